"""The program in a test's container: it answers, says what befalls it, and dies as told.

Run by its path, with nothing but the standard library, so that it is up within 50 ms.
"""

import os
import signal
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import FrameType

HOST = os.environ["POD_IP"]
LOADS_S = float(os.environ.get("LOADS_S", "0"))  # /health says 503 for so long
LINGERS_S = float(os.environ.get("LINGERS_S", "0"))  # how long it goes on after SIGTERM
BEGAN = time.perf_counter()


def say(what: str) -> None:
    """Write a line to the container's log, with the seconds since the start."""
    passed = time.perf_counter() - BEGAN
    sys.stdout.write(f"{passed:.2f} {what}\n")
    sys.stdout.flush()


class Answer(BaseHTTPRequestHandler):
    """GET /health, /unwell (from then on /health says 503), /leaving, /exit."""

    unwell = False

    def do_GET(self) -> None:
        loading = time.perf_counter() - BEGAN < LOADS_S
        if self.path == "/unwell":
            Answer.unwell = True
        if self.path in {"/unwell", "/leaving", "/exit"}:
            say(self.path)
        bad = self.path == "/health" and (loading or Answer.unwell)
        self.send_response(503 if bad else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()
        if self.path == "/exit":
            os._exit(3)

    def log_message(self, *_: object) -> None:
        """Probes are many: no line for each."""


def on_term(_: int, __: FrameType | None) -> None:
    """Go on for a while, as an engine does that finishes its requests."""
    say("SIGTERM")
    time.sleep(LINGERS_S)
    say("bye")
    sys.exit(0)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, on_term)
    say("up")
    ThreadingHTTPServer((HOST, 8080), Answer).serve_forever()
