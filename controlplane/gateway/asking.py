"""What a request asks for: which model, in which class, how much of it, until when.

The class is that of the caller's key, and a header may only lower it: a header anybody may set is
no admission. Closed networks may trust the header instead (A6).
"""

from collections.abc import Mapping
from hashlib import sha256

import msgspec

from controlplane.domain.gateway import ApiKey, GatewayPlan, ServedModel
from controlplane.domain.priorities import PRIORITIES, Priority
from controlplane.domain.reasons import ReasonCode
from controlplane.gateway.refusals import Refusal, refusal
from controlplane.render.envoy.names import API_KEY, DEADLINE, MODELS, PRIORITY, REQUEST_TYPE

BYTES_PER_TOKEN = 4  # of English text; a prompt is judged by its length before it is read
LOWEST, HIGHEST = Priority.LOW.rank, Priority.HIGH.rank
LONGEST_DEADLINE_S = 7 * 86_400.0
_RANKS = {priority.value: priority.rank for priority in PRIORITIES}
_BEARER = "bearer "
_ANYBODY = ApiKey(secret_hash="", name="", priority=Priority.LOW)


class Asked(msgspec.Struct, gc=False):
    """A request that may be offered to admission."""

    model: ServedModel
    rank: int
    tenant: str
    size: int  # bytes of its body, as far as said
    prompt_tokens: int
    weight: int
    deadline_s: float | None
    path: str | None  # what the engine shall see instead, where the way named the model
    malformed: bool  # its priority was nonsense
    keyed: bool


class Directory:
    """Finds models and keys; made anew with each plan."""

    def __init__(self, plan: GatewayPlan) -> None:
        """Index a plan."""
        self.policy = plan.policy
        self.models: dict[str, ServedModel] = {model.name: model for model in plan.models}
        self.by_name = {n: m for m in plan.models for n in (*m.names, m.name)}
        self.by_host = {host.lower(): m for m in plan.models for host in m.hosts}
        prefixes = [(f"{m.prefix}/", m) for m in plan.models if m.prefix is not None]
        self.prefixes = sorted(prefixes, key=lambda one: -len(one[0]))  # /a/b goes before /a
        self.keys = {key.secret_hash: key for key in plan.keys}
        self.trusting = plan.policy.trust == "headers"

    def read(
        self, headers: Mapping[str, str], body: Mapping[str, object] | None = None
    ) -> Asked | Refusal:
        """Say what is asked for, or why it cannot be."""
        key = self.key(headers)
        if key is None:
            return refusal(ReasonCode.KEY_UNKNOWN, 401)
        model, path = self.find(headers, body)
        if model is None or not key.sees(model.name):
            wanted = path if model is None else model.name
            return refusal(ReasonCode.UNKNOWN_MODEL, 404, about=(wanted or "", self.visible(key)))
        size = _whole(headers.get("content-length"))
        if size > self.policy.longest_body:
            allowed = self.policy.longest_body
            return refusal(ReasonCode.BODY_TOO_LARGE, 413, seen=size, limit=allowed)
        rank, malformed = self.rank(key, model, headers)
        asked = Asked(
            model=model,
            rank=rank,
            tenant=key.tenant or key.name,
            size=size,
            prompt_tokens=0,
            weight=1,
            deadline_s=_seconds(headers.get(DEADLINE)),
            path=path,
            malformed=malformed,
            keyed=key is not _ANYBODY,
        )
        _weigh(asked, body)
        return asked

    def key(self, headers: Mapping[str, str]) -> ApiKey | None:
        """Give the caller's key; None when it is unknown, or missing where one is required."""
        secret = headers.get(API_KEY)
        if secret is None:
            bearer = headers.get("authorization", "")
            if bearer[: len(_BEARER)].lower() == _BEARER:
                secret = bearer[len(_BEARER) :].strip()
        if secret is None or not self.keys:
            return None if self.policy.require_key else _ANYBODY
        # Found by the hash of 256 random bits: how long that takes tells nothing.
        return self.keys.get(sha256(secret.encode("utf-8", "surrogateescape")).hexdigest())

    def find(
        self, headers: Mapping[str, str], body: Mapping[str, object] | None
    ) -> tuple[ServedModel | None, str | None]:
        """Give the model and the path its engine shall see; without a model, what was asked."""
        if self.by_host:
            model = self.by_host.get(headers.get(":authority", "").partition(":")[0].lower())
            if model is not None:
                return model, None
        path = headers.get(":path", "/")
        if path.startswith(MODELS):
            name, _, rest = path[len(MODELS) :].partition("/")
            name = name.partition("?")[0]
            return (self.models[name], f"/{rest}") if name in self.models else (None, name)
        for prefix, model in self.prefixes:
            if path.startswith(prefix):
                return model, path[len(prefix) - 1 :]
        name = str((body or {}).get("model", ""))
        return (self.by_name[name], None) if name in self.by_name else (None, name or None)

    def visible(self, key: ApiKey) -> list[str]:
        """Name the models a key may see."""
        return [model.name for model in self.models.values() if key.sees(model.name)]

    def rank(self, key: ApiKey, model: ServedModel, headers: Mapping[str, str]) -> tuple[int, bool]:
        """Give the class, and whether the header that should say it was nonsense."""
        said = headers.get(PRIORITY)
        wished = None if said is None else _RANKS.get(said.strip().lower())
        kind = headers.get(REQUEST_TYPE)
        meant = None if kind is None else model.request_types.get(kind)
        if self.trusting:
            rank = wished if wished is not None else LOWEST if meant is None else meant.rank
        else:
            rank = max(
                key.priority.rank, wished or HIGHEST, HIGHEST if meant is None else meant.rank
            )
        return rank, said is not None and wished is None


def _weigh(asked: Asked, body: Mapping[str, object] | None) -> None:
    """Judge prompt and answer by their lengths, where the model's policy asks for it."""
    policy = asked.model.admission
    if policy.prompt_limit is None and policy.tokens_per_slot is None:
        return
    asked.prompt_tokens = -(-asked.size // BYTES_PER_TOKEN)
    if policy.tokens_per_slot is not None:
        wished = (body or {}).get("max_tokens") or (body or {}).get("max_completion_tokens") or 0
        wanted = wished if isinstance(wished, int | float) else 0
        tokens = asked.prompt_tokens + max(0, int(min(wanted, 1e9)))
        asked.weight = max(1, -(-tokens // policy.tokens_per_slot))


def _whole(text: str | None) -> int:
    return int(text) if text is not None and text.isascii() and text.isdigit() else 0


def _seconds(text: str | None) -> float | None:
    """Read a deadline; nonsense is none."""
    if text is None:
        return None
    try:
        wished = float(text)
    except ValueError:
        return None
    return wished if 0 < wished < LONGEST_DEADLINE_S else None
