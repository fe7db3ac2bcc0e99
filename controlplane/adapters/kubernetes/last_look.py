"""The last look before a write leaves this process: may it still be sent?

Between asking and sending there may be a wait for the pace, for a token, for a connection, and any
of them may be where the process was frozen for half a minute. So a fenced write carries its
question along, and it is asked again when the first byte is about to go: a no sends nothing.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from aiohttp import ClientSession, TraceConfig

Question = Callable[[], None]  # raises when nothing may be sent any more

_asked: ContextVar[Question | None] = ContextVar("asked_before_sending", default=None)


@contextmanager
def asked_before_sending(question: Question) -> Iterator[None]:
    """Ask this before any request of this block is sent."""
    token = _asked.set(question)
    try:
        yield
    finally:
        _asked.reset(token)


def looking(session: ClientSession) -> ClientSession:
    """Give a session over the same connections that asks; the one given is let go of."""
    look = TraceConfig()
    look.on_request_headers_sent.append(_look)  # called before they are, and fails cleanly
    look.on_request_chunk_sent.append(_look)  # the body goes out in a task, together with them
    made = ClientSession(
        connector=session.connector,
        trust_env=session.trust_env,
        read_bufsize=2**21,  # as the library has it: one object of a watch may be that large
        trace_configs=[look],
    )
    session.detach()
    return made


async def _look(*_about: object) -> None:
    question = _asked.get()
    if question is not None:
        question()
