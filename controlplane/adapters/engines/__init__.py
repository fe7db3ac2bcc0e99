"""Every engine asked by itself: health, metrics, warm-up, sleep; `Engines` and `Signals` of it."""
