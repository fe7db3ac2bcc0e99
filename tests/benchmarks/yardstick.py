"""How fast this machine is just now, by a loop that does nothing but add.

Others work on it too, and its clock goes up and down: a figure without this one says little.
"""

from time import process_time

ADDITIONS = 1_000_000


def additions_ns() -> float:
    """Give the nanoseconds of processor time one bare addition in a loop takes."""
    total, began = 0, process_time()
    for number in range(ADDITIONS):
        total += number
    return (process_time() - began) / ADDITIONS * 1e9
