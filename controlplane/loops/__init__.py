"""Observe, decide, write down, act: one loop, and its instances."""
