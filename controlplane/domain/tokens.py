"""What is kept of an access token: a hash, never the secret.

A secret is 256 random bits, not a password: nobody can guess or list it, so a fast hash is right.
A slow one (argon2) protects secrets that people choose; here it would only let every caller with a
wrong token cost us time. The hash is found by an index: how long that takes tells at most how a
hash begins, and from a hash there is no way back to a secret.
"""

import hashlib

SECRET_BYTES = 32


def secret_hash(secret: str) -> str:
    """Give the hash under which a secret is stored and found."""
    return hashlib.sha256(secret.encode()).hexdigest()
