"""Which conditions are worth a person, and since when they hold."""
