"""Sentences for reasons, in every language: a code and its evidence in, plain words out."""

from controlplane.render.sentences.figures import figure, pair, quantity, seconds, unit_of
from controlplane.render.sentences.headline import account, headline
from controlplane.render.sentences.languages import (
    LANGUAGES,
    SENTENCES,
    clause,
    explanation,
    sentence,
    title,
    whole,
)

__all__ = [
    "LANGUAGES",
    "SENTENCES",
    "account",
    "clause",
    "explanation",
    "figure",
    "headline",
    "pair",
    "quantity",
    "seconds",
    "sentence",
    "title",
    "unit_of",
    "whole",
]
