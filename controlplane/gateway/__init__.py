"""Priority admission in the request path.

Envoy asks, worker processes answer, and one object starts and stops it all: `gateway.Gateway`.
"""
