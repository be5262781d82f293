"""May a release be published? A policy against the release, its ledger, its plan and its page."""
