"""Tells whether a file was changed, by what is in it.

Polled by content, not by inotify or time of change: a ConfigMap is a link that is swapped, editors
write a new file in place of the old, and saving the same text again is no change.
"""

from hashlib import blake2b
from pathlib import Path

from controlplane.settings.texts import written_text


class FileWatch:
    """Remembers the text that was given last and gives the file's text when it differs."""

    def __init__(self, path: Path, seen: str | None = None) -> None:
        """Watch a file; `seen` is the text that is in force already."""
        self.path = path
        self._mark = None if seen is None else _mark(seen)

    def changed(self) -> str | None:
        """Give the text if it is another than last time, else None.

        A file that cannot be read raises `FaultsError` each time: it may be on its way.
        """
        text = written_text(self.path)
        mark = _mark(text)
        if mark == self._mark:
            return None
        self._mark = mark
        return text


def _mark(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16).digest()
