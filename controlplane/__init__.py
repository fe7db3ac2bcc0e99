"""One daemon that keeps fleets of AI-model servers sized, warm, isolated and accounted for."""

__version__ = "0.1.0"
