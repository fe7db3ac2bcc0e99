"""An open-loop load: requests leave when they are due, whatever became of those before."""
