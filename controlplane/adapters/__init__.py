"""The outside world behind the ports. One package per system; they do not know one another."""
