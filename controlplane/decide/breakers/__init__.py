"""When a failing model is left alone, and which failing replica is taken out of the balancing."""
