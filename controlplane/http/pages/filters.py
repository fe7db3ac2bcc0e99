"""Template filters: what is said in the reader's language, zone and currency."""

from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context

from controlplane.domain.reasons import Evidence, Reason, ReasonCode
from controlplane.http.pages import format as as_read
from controlplane.http.pages.language import translations
from controlplane.render import sentences


def filters(language: str) -> dict[str, Any]:
    """Give all filters of one language."""
    return {**_times(language), **_spoken(language), "money": _money, "colour": _colour}


@pass_context
def _money(context: Context, micros: int | None, digits: int | None = None) -> str:
    return as_read.money(micros, context["currency"], digits)


@pass_context
def _colour(context: Context, model: str | None) -> str:
    return str(context["colours"].get(model, "m8"))


def _times(language: str) -> dict[str, Any]:
    gettext = translations(language).gettext

    @pass_context
    def clock(context: Context, at: float | None) -> str:
        return as_read.clock(at, context["view"].zone)

    @pass_context
    def moment(context: Context, at: float | None) -> str:
        return as_read.moment(at, context["now"], context["view"].zone, language)

    @pass_context
    def day(context: Context, at: float | None) -> str:
        return as_read.day(at, context["view"].zone, language)

    @pass_context
    def lasting(context: Context, at: float | None) -> str:
        return as_read.lasting(at, context["now"])

    @pass_context
    def ago(context: Context, at: float | None) -> str:
        return gettext("%(span)s ago") % {"span": as_read.lasting(at, context["now"])}

    return {"clock": clock, "moment": moment, "day": day, "lasting": lasting, "ago": ago}


def _spoken(language: str) -> dict[str, Any]:
    def title(code: ReasonCode | str) -> str:
        return sentences.title(ReasonCode(code), language)

    def clause(code: ReasonCode | str, evidence: tuple[Evidence, ...] = ()) -> str:
        return sentences.clause(ReasonCode(code), evidence, language)

    def sentence(reason: Reason) -> str:
        return sentences.sentence(reason, language)

    def sentence_case(said: str) -> str:
        return sentences.whole(said, language)

    return {
        "title": title,
        "clause": clause,
        "sentence": sentence,
        "sentence_case": sentence_case,
    }
