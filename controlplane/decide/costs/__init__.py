"""Who pays for which device in which interval."""
