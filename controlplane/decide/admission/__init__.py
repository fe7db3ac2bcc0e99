"""Who gets the next free slot. Mutable for speed; otherwise as pure as its neighbours."""
