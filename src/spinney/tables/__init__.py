"""Reading cells of arrays, frames and files, each cell alone."""
