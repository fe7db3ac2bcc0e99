"""Requests expected in a few minutes, and the backtest that says whether to believe it. Pure."""
