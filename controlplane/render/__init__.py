"""Decisions as text and as manifests: plain data in, plain data out."""
