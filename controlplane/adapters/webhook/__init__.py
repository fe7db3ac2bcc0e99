"""Alerts to people, in the words of Alertmanager's webhook, which every bridge understands."""
