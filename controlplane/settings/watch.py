"""Tells whether a file holds a text that nobody has dealt with, by what is in it.

Polled by content, not by inotify or time of change: a ConfigMap is a link that is swapped, editors
write a new file in place of the old, and saving the same text again is no change. A text counts as
new until it is settled: what a locked store kept from being applied is found again.
"""

from hashlib import blake2b
from pathlib import Path

from controlplane.settings.texts import written_text


class FileWatch:
    """Remembers the text that was settled last and gives the file's text when it differs."""

    def __init__(self, path: Path, settled: str | None = None) -> None:
        """Watch a file; `settled` is the text that is in force already."""
        self.path = path
        self._settled = None if settled is None else _mark(settled)

    def changed(self) -> str | None:
        """Give the text if it is another than the settled one, else None.

        A file that cannot be read raises `FaultsError` each time: it may be on its way.
        """
        text = written_text(self.path)
        return None if _mark(text) == self._settled else text

    def settle(self, text: str) -> None:
        """Take note that this text was dealt with: put in force, or refused."""
        self._settled = _mark(text)


def _mark(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16).digest()
