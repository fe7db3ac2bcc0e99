"""The OpenAI-compatible side: models, completions and chat, whole or token by token."""

from collections.abc import Mapping
from itertools import count, cycle, islice
from typing import Any

import msgspec
from aiohttp import web

from controlplane.clock import wall
from controlplane.emulation.engine import Engine, FailedError, OverloadedError
from controlplane.emulation.faces.face import Face, as_json, openai_error

WORDS = ("The", " fleet", " is", " warm", ",", " the", " queue", " is", " short", ".")
DEFAULT_TOKENS = 16
CHARACTERS_PER_TOKEN = 4


class Completions:
    """Generation over HTTP for one engine."""

    def __init__(self, engine: Engine, face: Face) -> None:
        """Put an engine behind it."""
        self._engine, self._face = engine, face
        self._numbers = count(1)

    def routes(self) -> list[web.RouteDef]:
        """Give the routes, those only this engine has among them."""
        return [
            web.get("/v1/models", self.models),
            web.post("/v1/completions", self.completions),
            web.post("/v1/chat/completions", self.chat),
            *(web.post(path, self.native) for path in self._face.native),
        ]

    async def models(self, _: web.Request) -> web.Response:
        """List the one model; as real ones do, only what is loaded."""
        name = self._engine.spec.model
        listed = {"id": name, "object": "model", "created": int(wall()), "owned_by": "emulation"}
        return as_json({"object": "list", "data": [listed] if self._engine.loaded else []})

    async def completions(self, request: web.Request) -> web.StreamResponse:
        """Complete a prompt."""
        return await self._answer(request, chat=False)

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """Answer messages."""
        return await self._answer(request, chat=True)

    async def native(self, request: web.Request) -> web.StreamResponse:
        """Generate by the engine's own call."""
        body = await _body(request)
        if body is None:
            return as_json({"error": "the body is no JSON object"}, 400)
        parameters = body.get("parameters") or body
        asked = parameters.get("max_new_tokens", parameters.get("max_tokens", DEFAULT_TOKENS))
        tokens = asked if isinstance(asked, int) and asked > 0 else DEFAULT_TOKENS
        refused = await self._whole(_tokens_of(body), tokens)
        if refused is not None:
            return refused
        text = _text(tokens)
        name = self._engine.spec.model
        return self._json({"generated_text": text, "text_output": text, "model_name": name})

    async def _answer(self, request: web.Request, *, chat: bool) -> web.StreamResponse:
        body = await _body(request)
        if body is None:
            return openai_error("The body is no JSON object.", "BadRequestError", 400)
        name = body.get("model", self._engine.spec.model)
        if name != self._engine.spec.model:
            return openai_error(f"The model `{name}` does not exist.", "NotFoundError", 404)
        asked = body.get("max_completion_tokens", body.get("max_tokens", DEFAULT_TOKENS))
        if not isinstance(asked, int) or asked < 1:
            return openai_error(f"max_tokens: {asked} is not above 0.", "BadRequestError", 400)
        prompt = _tokens_of(body)
        usage = {
            "prompt_tokens": prompt,
            "completion_tokens": asked,
            "total_tokens": prompt + asked,
        }
        if body.get("stream"):
            wants_usage = (body.get("stream_options") or {}).get("include_usage", False)
            return await self._stream(request, chat=chat, usage=usage, tell_usage=wants_usage)
        refused = await self._whole(prompt, asked)
        if refused is not None:
            return refused
        return self._json({**self._envelope(chat=chat, chunk=False), "usage": usage}, asked, chat)

    async def _whole(self, prompt: int, tokens: int) -> web.Response | None:
        """Generate all of it; give the answer where it cannot be."""
        if not self._engine.loaded:
            return openai_error("The model is not loaded yet.", "ServiceUnavailableError", 503)
        try:
            async for _ in self._engine.generate(prompt, tokens, at_once=True):
                pass
        except OverloadedError:
            return self._face.refusal()
        except FailedError:
            return openai_error("Generation failed.", "InternalServerError", 500)
        return None

    async def _stream(
        self, request: web.Request, *, chat: bool, usage: Mapping[str, int], tell_usage: bool
    ) -> web.StreamResponse:
        """Send each token when it is there."""
        if not self._engine.loaded:
            return openai_error("The model is not loaded yet.", "ServiceUnavailableError", 503)
        envelope = self._envelope(chat=chat, chunk=True)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
        prompt, tokens = usage["prompt_tokens"], usage["completion_tokens"]
        try:
            done = 0
            async for done in self._engine.generate(prompt, tokens, at_once=False):
                if not response.prepared:  # only now is it sure that it is not refused
                    await response.prepare(request)
                last = "length" if done == tokens else None
                choice = _piece(WORDS[(done - 1) % len(WORDS)], last, chat=chat)
                await response.write(_event({**envelope, "choices": [choice]}))
        except OverloadedError:
            return self._face.refusal()
        except FailedError:
            return openai_error("Generation failed.", "InternalServerError", 500)
        if tell_usage:
            await response.write(_event({**envelope, "choices": [], "usage": usage}))
        await response.write(b"data: [DONE]\n\n")
        await response.write_eof()
        return response

    def _envelope(self, *, chat: bool, chunk: bool) -> dict[str, Any]:
        kind = "text_completion"
        if chat:
            kind = "chat.completion.chunk" if chunk else "chat.completion"
        number = f"{'chatcmpl' if chat else 'cmpl'}-{next(self._numbers)}"
        name = self._engine.spec.model
        return {"id": number, "object": kind, "created": int(wall()), "model": name}

    def _json(self, payload: dict[str, Any], tokens: int = 0, chat: bool = False) -> web.Response:
        if tokens:
            payload["choices"] = [_whole_choice(_text(tokens), chat=chat)]
        encoded = msgspec.json.encode(payload)
        if self._engine.faults.now.wrong_json:
            encoded = encoded[: len(encoded) // 2]
        return web.Response(body=encoded, content_type="application/json")


async def _body(request: web.Request) -> dict[str, Any] | None:
    try:
        body = msgspec.json.decode(await request.read())
    except msgspec.DecodeError:
        return None
    return body if isinstance(body, dict) else None


def _tokens_of(body: Mapping[str, Any]) -> int:
    said = body.get("prompt", body.get("messages", body.get("inputs", body.get("text_input", ""))))
    return max(1, len(str(said)) // CHARACTERS_PER_TOKEN)


def _text(tokens: int) -> str:
    return "".join(islice(cycle(WORDS), tokens))


def _piece(text: str, ending: str | None, *, chat: bool) -> dict[str, Any]:
    said: dict[str, Any] = {"delta": {"content": text}} if chat else {"text": text}
    return {"index": 0, **said, "finish_reason": ending, "logprobs": None}


def _whole_choice(text: str, *, chat: bool) -> dict[str, Any]:
    message = {"message": {"role": "assistant", "content": text}}
    said: dict[str, Any] = message if chat else {"text": text}
    return {"index": 0, **said, "finish_reason": "length", "logprobs": None}


def _event(payload: Any) -> bytes:
    return b"data: " + msgspec.json.encode(payload) + b"\n\n"
