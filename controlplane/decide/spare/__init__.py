"""Which replica is in which lane: warm up, promote, drain, refill, rotate, lend."""
