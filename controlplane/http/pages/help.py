"""Help: the keys, the words, and what every reason code means."""

from collections.abc import Mapping

from controlplane.domain.reasons import ReasonCode
from controlplane.http.pages.language import translations
from controlplane.http.pages.page import Context, Page
from controlplane.http.pages.view import View
from controlplane.http.state import State
from controlplane.render.sentences import explanation, title

Entry = tuple[str, str, str]


async def context(state: State, view: View) -> Context:  # noqa: ARG001
    """Gather the help page."""
    sought = view.get("q").strip().lower()
    entries = [
        (str(code), title(code, view.language), explanation(code, view.language))
        for code in ReasonCode
    ]
    return {
        "codes": [entry for entry in entries if sought in " ".join(entry).lower()],
        "keys": keys(view.language),
        "terms": terms(view.language),
    }


def keys(language: str) -> Mapping[str, str]:
    """Say what each key does."""
    _ = translations(language).gettext
    return {
        "1 – 8": _("open a page of the rail"),
        "/": _("search"),
        "j k": _("next and previous row"),
        "Enter": _("open the row"),
        "?": _("this page"),
        "Esc": _("close, leave the search"),
    }


def terms(language: str) -> Mapping[str, str]:
    """Explain the words that mean one thing here."""
    _ = translations(language).gettext
    return {
        _("Target"): _("Replicas wanted in service. Spares come on top and have their own bound."),
        _("Lane"): _("Where in its life a replica stands: loading, warm, serving or draining."),
        _("Spare"): _("Capacity kept ready: warm, lending or sleeping."),
        _("Drain time"): _("The queue divided by what the replicas get done per second."),
        _("Wait"): _("From arrival to a slot; what scaling and admission control."),
        _("Latency"): _("From arrival to the last byte, service included."),
        _("Stranded"): _("Memory of held devices that no model uses."),
        _("Advisory"): _("Decisions are taken, written down and shown, but not carried out."),
    }


PAGE = Page("/help", "help", context)
