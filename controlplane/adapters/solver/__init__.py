"""The placement solver in a worker process."""
