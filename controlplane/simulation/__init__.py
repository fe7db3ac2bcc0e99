"""The simulated world, its load, its peers and its reports."""
