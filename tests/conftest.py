"""What holds for every test."""

import asyncio
import inspect
import os
from collections.abc import Generator

import pytest


@pytest.fixture(autouse=True)
def _no_loop_where_none_is_needed(request: pytest.FixtureRequest) -> None:
    """looptime asks for the loop of every test; asked in a plain one, asyncio makes one.

    Nobody would close it, and its warning would fail some other test.
    """
    if not inspect.iscoroutinefunction(getattr(request, "function", None)):
        asyncio.get_event_loop_policy().set_event_loop(None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where CI is set nothing may be skipped: a missing program would hide what is broken."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("CI"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome, report.longrepr = "failed", f"{reason} (CI is set, so this is a failure)"
    return report
