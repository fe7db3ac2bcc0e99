"""What Envoy answers by itself: its reason and its sentence, in the form of admission's refusals.

Clients read one form, whoever refused them. The proxy says the same in the same cases.
"""

from controlplane.render.envoy.names import DEADLINE, REASON
from controlplane.render.envoy.protos import Plain, headers, typed

TOO_LARGE, LONG_HEADERS, NO_REQUEST = "body-too-large", "headers-too-large", "bad-request"
ANSWERS: dict[str, tuple[int, str]] = {
    TOO_LARGE: (413, "The body is larger than this gateway allows."),
    LONG_HEADERS: (431, "The headers are more, or longer, than this gateway allows."),
    NO_REQUEST: (400, "This is no request that this gateway understands."),
    "no-endpoints": (503, "No replica of the model takes requests."),
    "pending-full": (503, "Too many requests wait for a connection to the model's replicas."),
    "deadline-passed": (504, "The deadline that the caller set has passed."),
    "engine-silent": (504, "The engine said nothing for too long."),
    "engine-unreachable": (502, "The engine cannot be reached."),
    "engine-reset": (502, "The engine broke off."),
}
UNAVAILABLE = 503
AGAIN_S = 1
# Admission words its own, and says which they are where Envoy says why it answered.
_OURS = "response.code_details in ['PromptTooLong', 'TooHeavy', 'BodyTooLarge']"


def own_answers() -> Plain:
    """Say why Envoy itself answered."""
    return {
        "mappers": [
            _mapped(TOO_LARGE, _told(f"response.code == 413 && !({_OURS})")),
            _mapped(LONG_HEADERS, _told("response.code == 431")),
            _mapped(NO_REQUEST, _told(f"response.code == 400 && !({_OURS})")),
            _mapped("no-endpoints", _flags("UH", "NC")),
            _mapped("pending-full", _flags("UO")),
            _mapped("deadline-passed", _both(_flags("UT"), _asked(DEADLINE))),
            _mapped("engine-silent", _flags("UT")),
            _mapped("engine-unreachable", _flags("UF", "URX")),
            _mapped("engine-reset", _flags("UC", "LR", "UPE")),
        ]
    }


def answer(reason: str) -> tuple[int, dict[str, str], Plain]:
    """Give status, headers and body of one of these answers."""
    status, sentence = ANSWERS[reason]
    again = {"retry-after": str(AGAIN_S)} if status == UNAVAILABLE else {}
    said = {REASON: reason, "content-type": "application/json", **again}
    return status, said, {"error": {"message": sentence, "type": reason, "code": status}}


def _mapped(reason: str, when: Plain) -> Plain:
    status, said, body = answer(reason)
    return {
        "filter": when,
        "status_code": status,
        "headers_to_add": headers(**said),
        "body_format_override": {"json_format": body, "content_type": said["content-type"]},
    }


def _told(expression: str) -> Plain:
    kind = "extensions.access_loggers.filters.cel.v3.ExpressionFilter"
    return {
        "extension_filter": {
            "name": "envoy.access_loggers.extension_filters.cel",
            "typed_config": typed(kind, expression=expression),
        }
    }


def _flags(*flags: str) -> Plain:
    return {"response_flag_filter": {"flags": list(flags)}}


def _asked(header: str) -> Plain:
    return {"header_filter": {"header": {"name": header, "present_match": True}}}


def _both(*filters: Plain) -> Plain:
    return {"and_filter": {"filters": list(filters)}}
