"""Runs every benchmark of this folder, or those whose name contains a given word."""

import runpy
import sys
from pathlib import Path


def main(words: list[str]) -> None:
    """Run them one after the other: two at once would measure each other."""
    for path in sorted(Path(__file__).parent.glob("bench_*.py")):
        if not words or any(word in path.stem for word in words):
            print(f"--- {path.stem}", flush=True)
            runpy.run_path(str(path), run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
