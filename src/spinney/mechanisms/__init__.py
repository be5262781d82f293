"""How a value becomes private: randomness, additive noise, selection and split decisions."""
