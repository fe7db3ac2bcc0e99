"""What protoc makes of `externalscaler.proto`: seven messages that will not change.

It is committed, so that building and installing need no compiler; a test makes it anew and
compares.
"""
