"""What the daemon remembers about itself to show it: history, heartbeats, metrics, logs."""
