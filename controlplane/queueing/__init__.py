"""Closed forms and estimators: what waiting should be, and what was measured. Pure."""
