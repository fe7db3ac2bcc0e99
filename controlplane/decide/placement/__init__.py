"""Which model fits which node class, and how a set of pods packs onto nodes."""
