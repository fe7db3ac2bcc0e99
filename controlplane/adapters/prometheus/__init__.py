"""A Prometheus as a source of signals: a query a signal for the whole fleet, held in memory."""
