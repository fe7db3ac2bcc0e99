"""REST under /api/v1, JSON and CSV."""
