"""`controlplane token`: access tokens. A secret is shown once and not kept."""

import asyncio
from typing import Any

import click
import msgspec

from controlplane.adapters.sql.opening import open_store
from controlplane.adapters.sql.store import Store
from controlplane.cli.callers import checked
from controlplane.cli.stored import data_option, json_option, moment, place, who
from controlplane.clock import wall
from controlplane.domain.faults import Fault, FaultsError
from controlplane.http.access import Role
from controlplane.http.auth import new_secret, secret_hash
from controlplane.ports import AuditEntry, Token

DAY_S = 86_400.0
ROLES = [str(role) for role in Role]


@click.group(epilog="Example: controlplane token create grafana --role viewer --days 90")
def command() -> None:
    """Give and take access to pages and API."""


@command.command(epilog="Example: controlplane token create grafana --role viewer --days 90")
@click.argument("name")
@click.option("--role", type=click.Choice(ROLES), required=True, help="What it may do.")
@click.option(
    "--days",
    type=click.FloatRange(0, 3650, min_open=True),
    help="Valid so many days; default: for good.",
)
@json_option
@data_option
def create(**given: Any) -> None:
    """Make a token for NAME and print its secret, this once."""
    checked("NAME", given["name"])
    now, days = wall(), given["days"]
    ends = None if days is None else now + days * DAY_S
    token = Token(name=given["name"], role=given["role"], created_at=now, expires_at=ends)
    secret = new_secret()
    asyncio.run(_create(given["data"], token, secret))
    if given["as_json"]:
        click.echo(msgspec.json.encode({**_plain(token), "secret": secret}).decode())
        return
    click.echo(secret)
    click.echo(f"This secret of {token.name} ({token.role}) is shown only now.", err=True)


@command.command("list", epilog="Example: controlplane token list --json")
@json_option
@data_option
def show(as_json: bool, data: str | None) -> None:
    """List the tokens, without their secrets."""
    tokens = asyncio.run(_list(data))
    if as_json:
        click.echo(msgspec.json.encode([_plain(token) for token in tokens]).decode())
        return
    if not tokens:
        click.echo("no token was given")
    now = wall()
    for token in tokens:
        ends = token.expires_at
        until = (
            "for good" if ends is None else f"{'ended' if ends <= now else 'until'} {moment(ends)}"
        )
        click.echo(f"{token.name:<24}  {token.role:<8}  made {moment(token.created_at)}  {until}")


@command.command(epilog="Example: controlplane token revoke grafana")
@click.argument("name")
@data_option
def revoke(name: str, data: str | None) -> None:
    """Take the token of NAME away."""
    asyncio.run(_revoke(data, name))
    click.echo(f"{name}: revoked")


async def _create(data: str | None, token: Token, secret: str) -> None:
    async with open_store(place(data), create=True) as store:
        try:
            await store.tokens.add(token, secret_hash(secret))
        except ValueError as refused:
            raise click.ClickException(str(refused)) from None
        await _audit(store, "create token", token.name, token.role)


async def _list(data: str | None) -> list[Token]:
    async with open_store(place(data)) as store:
        return list(await store.tokens.tokens())


async def _revoke(data: str | None, name: str) -> None:
    async with open_store(place(data)) as store:
        if not await store.tokens.remove(name):
            known = ", ".join(token.name for token in await store.tokens.tokens()) or "none"
            rule = f"is no token; there are: {known}"
            raise FaultsError([Fault("NAME", None, "", name, rule)])
        await _audit(store, "revoke token", name, "")


async def _audit(store: Store, what: str, subject: str, detail: str) -> None:
    await store.audit.record(
        AuditEntry(at=wall(), who=who(), what=what, subject=subject, detail=detail, ending="done")
    )


def _plain(token: Token) -> dict[str, Any]:
    ends = token.expires_at
    return {
        "name": token.name,
        "role": token.role,
        "created_at": moment(token.created_at),
        "expires_at": None if ends is None else moment(ends),
    }
