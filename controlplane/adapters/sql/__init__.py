"""The store: journal, memory, ledger and what people set, on SQLite or PostgreSQL."""
