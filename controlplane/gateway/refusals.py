"""An answer of our own: status, reason and body, alike whatever stands in front of us.

The body has the form clients of the OpenAI API read, so that they show its sentence.
"""

from collections.abc import Sequence
from functools import lru_cache

import msgspec

from controlplane.decide.admission.verdicts import Verdict
from controlplane.domain.reasons import Evidence, Reason, ReasonCode
from controlplane.render.envoy.names import REASON, reason_word
from controlplane.render.sentences import sentence

PLAIN = {0x202F: None, 0xA0: " "}  # programs read these sentences too

PLAIN_HEADERS = {"content-type": "application/json"}


class Refusal(msgspec.Struct, frozen=True):
    """What a request is told instead of being served."""

    code: ReasonCode
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


def refusal(
    code: ReasonCode,
    status: int,
    *,
    seen: int | None = None,
    limit: int | None = None,
    retry_after_s: int | None = None,
    about: tuple[str, Sequence[str]] | None = None,
) -> Refusal:
    """Word an answer; `about` is the model asked for and those there are."""
    named, models = about or (None, None)
    evidence = (Evidence("asked", seen, limit), Evidence("model", named or None))
    text = sentence(Reason(code, 0, 0, evidence)).translate(PLAIN)
    word = reason_word(code)
    error: dict[str, object] = {"message": text, "type": word, "code": status}
    if models is not None:
        error["models"] = list(models)
    headers = [(REASON, word), ("content-type", "application/json")]
    if retry_after_s is not None:
        headers.append(("retry-after", str(retry_after_s)))
    return Refusal(code, status, tuple(headers), msgspec.json.encode({"error": error}) + b"\n")


@lru_cache(maxsize=4096)
def of_verdict(verdict: Verdict) -> Refusal:
    """Word what admission said; a burst is turned away with the same few answers."""
    return refusal(verdict.code, verdict.status, retry_after_s=verdict.retry_after_s)
