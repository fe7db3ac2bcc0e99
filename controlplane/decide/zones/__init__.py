"""Zones: which are lost, and how many replicas survive the loss of one."""
