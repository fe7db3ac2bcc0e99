"""The tables by language, and what each says about one reason code."""

from collections.abc import Iterable, Mapping

from controlplane.domain.reasons import Evidence, Reason, ReasonCode
from controlplane.render.sentences.en import ENGLISH
from controlplane.render.sentences.figures import blanks
from controlplane.render.sentences.wording import Table, Wording, fill
from controlplane.render.sentences.zh import CHINESE

SENTENCES: Mapping[str, Table] = {"en": ENGLISH, "zh": CHINESE}
LANGUAGES: tuple[str, ...] = tuple(SENTENCES)
DEFAULT = "en"
CLASSES: Mapping[str, Mapping[str, str]] = {"zh": {"high": "高", "medium": "中", "low": "低"}}
_FULL_STOP = {"zh": "。"}


def wording(code: ReasonCode, language: str = DEFAULT) -> Wording:
    """Give what a language says about a code; a language we do not speak gets English."""
    return SENTENCES.get(language, ENGLISH)[code]


def title(code: ReasonCode, language: str = DEFAULT) -> str:
    """Give a code's short label."""
    return wording(code, language).title


def explanation(code: ReasonCode, language: str = DEFAULT) -> str:
    """Say what a code means, for the help page."""
    return wording(code, language).explanation


def clause(code: ReasonCode, evidence: Iterable[Evidence], language: str = DEFAULT) -> str:
    """Say it so that it reads after "because"."""
    filled = blanks(evidence)
    if "class" in filled:
        filled["class"] = CLASSES.get(language, {}).get(filled["class"], filled["class"])
    return fill(wording(code, language).clause, filled)


def sentence(reason: Reason, language: str = DEFAULT) -> str:
    """Say it as a sentence of its own."""
    return whole(clause(reason.code, reason.evidence, language), language)


def whole(said: str, language: str = DEFAULT) -> str:
    """Make a sentence of a clause: its first letter large unless it begins a name."""
    first = said.partition(" ")[0]
    name = language != DEFAULT or not first.isalpha()  # chat-70b and 4 stay as they are written
    stop = "" if said.endswith((".", "。", "…")) else _FULL_STOP.get(language, ".")
    return f"{said[:1] if name else said[:1].upper()}{said[1:]}{stop}"
