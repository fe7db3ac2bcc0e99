"""`controlplane emulate`: an engine that speaks HTTP like a real one, without an accelerator."""

import os
import ssl
from importlib import import_module
from typing import Any

import click
import uvloop

from controlplane.emulation.faults import Faults, parse
from controlplane.emulation.spec import FACES, EngineSpec, Listening

EPILOG = f"""\b
Faults (--fault NAME or NAME=VALUE, more than once; while it runs:
POST /emulation/faults with a JSON object, GET /emulation/state to look):
  {", ".join(Faults.__struct_fields__[:7])},
  {", ".join(Faults.__struct_fields__[7:])}

\b
Examples:
  controlplane emulate --model llama --port 8000 --slots 4 --load-s 5
  controlplane emulate --model qwen --engine sglang --service-law lognormal
  controlplane emulate --model llama --fault hang
  controlplane emulate --model llama --fault die_after_s=30 --fault exit_code=137
"""
SECONDS = click.FloatRange(min=0)
SPEC = EngineSpec(model="")


@click.command(epilog=EPILOG)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8000, show_default=True, type=int, help="Port; 0 for any.")
@click.option("--metrics-port", type=int, help="Metrics on a second port too (Triton: 8002).")
@click.option("--tls-cert", type=click.Path(exists=True), help="Certificate; speaks HTTPS then.")
@click.option("--tls-key", type=click.Path(exists=True), help="Its key, where it is another file.")
@click.option("--model", required=True, help="Name it serves the model under.")
@click.option(
    "--engine",
    default=SPEC.engine,
    show_default=True,
    type=click.Choice(list(FACES)),
    help="Whose health, metrics and answers it has.",
)
@click.option(
    "--slots",
    default=SPEC.slots,
    show_default=True,
    type=click.IntRange(min=1),
    help="Requests generated at once; more of them wait.",
)
@click.option(
    "--service-s",
    default=SPEC.service_s,
    show_default=True,
    type=SECONDS,
    help="Mean seconds of a generation.",
)
@click.option(
    "--service-law",
    default=SPEC.service_law,
    show_default=True,
    type=click.Choice(["fixed", "exponential", "lognormal"]),
    help="How generations differ.",
)
@click.option(
    "--spread",
    default=SPEC.spread,
    show_default=True,
    type=SECONDS,
    help="Standard deviation over mean, of lognormal.",
)
@click.option(
    "--token-s",
    default=SPEC.token_s,
    show_default=True,
    type=SECONDS,
    help="So many more seconds for each token.",
)
@click.option(
    "--load-s",
    default=SPEC.load_s,
    show_default=True,
    type=SECONDS,
    help="Seconds until the model is loaded.",
)
@click.option(
    "--cold-factor",
    default=SPEC.cold_factor,
    show_default=True,
    type=click.FloatRange(min=1),
    help="The first generation takes so many times longer …",
)
@click.option(
    "--cold-requests",
    default=SPEC.cold_requests,
    show_default=True,
    type=click.IntRange(min=0),
    help="… and after so many it is as fast as it will be.",
)
@click.option(
    "--kv-tokens",
    type=click.IntRange(min=1),
    help="Tokens the KV cache holds; default 2048 for each slot.",
)
@click.option(
    "--queue-limit",
    type=click.IntRange(min=0),
    help="Waiting requests beyond which one is refused; default: none is.",
)
@click.option("--may-sleep", is_flag=True, help="Have /sleep, /wake_up and /is_sleeping (vLLM).")
@click.option(
    "--wake-s",
    default=SPEC.wake_s,
    show_default=True,
    type=SECONDS,
    help="Seconds from sleep until it generates.",
)
@click.option(
    "--ranks",
    default=SPEC.ranks,
    show_default=True,
    type=click.IntRange(min=1),
    help="Devices of the replica; SGLang has a series for each.",
)
@click.option(
    "--seed",
    default=SPEC.seed,
    show_default=True,
    type=click.IntRange(min=0),
    help="Seed of everything left to chance.",
)
@click.option(
    "--abort-on-term",
    is_flag=True,
    help="On SIGTERM end at once, as vLLM does by default; else finish what is being generated.",
)
@click.option("--fault", "faults", multiple=True, metavar="NAME[=VALUE]", help="See below.")
def command(**given: Any) -> None:
    """Play an inference engine over HTTP: OpenAI's API, health, metrics, sleep and faults.

    It prints one line once its port is open. SIGTERM closes the port, lets what is being generated
    end, and ends the process.
    """
    try:
        at_first = parse(given.pop("faults"))
    except ValueError as cause:
        raise click.BadParameter(str(cause), param_hint="--fault") from cause
    tls = _tls(given.pop("tls_cert"), given.pop("tls_key"))
    sockets = {name: given.pop(name) for name in ("host", "port", "metrics_port", "abort_on_term")}
    spec, where = EngineSpec(**given), Listening(tls=tls, **sockets)

    def listening(port: int) -> None:
        click.echo(f"{spec.engine} emulated at {where.host}:{port}")

    # An engine calls nobody. The web library reads all certificates of the system when it is
    # imported, a third of a start; tests start engines by the dozen.
    os.environ.setdefault("SSL_CERT_FILE", os.devnull)
    process = import_module("controlplane.emulation.process")
    uvloop.run(process.run(spec, at_first, where, listening))


def _tls(cert: str | None, key: str | None) -> ssl.SSLContext | None:
    if cert is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(cert, key)
    return context
