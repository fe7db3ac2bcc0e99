"""Kubernetes: nodes and pods watched, turned into the fleet's nouns, and written to.

The library gives connection, credentials and TLS. What comes back is read from its raw bytes into
shapes of our own that hold only what is used: the generated model classes would take ten times
the memory and the time.
"""
