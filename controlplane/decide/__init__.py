"""The verbs: pure functions from what was seen to what should be. No clock, no chance, no I/O."""
