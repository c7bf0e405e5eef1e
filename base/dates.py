"""Dates of calendars as seconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime


def seconds_of(text: str) -> float:
    """Seconds since 1970 of a date, ``2026-12-01`` or ``2026-12-01T08:00[:00]``.

    A date without a zone is taken as UTC, like the times of logs.

    Raises
    ------
    ValueError
        The text is no such date.
    """
    try:
        return seconds_since_1970(datetime.fromisoformat(text))
    except ValueError:
        raise ValueError(f"expected a date such as 2026-12-01T08:00:00, got {text[:40]!r}") from None


def seconds_since_1970(date: datetime) -> float:
    """Seconds since 1970 of a date; a date without a zone is taken as UTC."""
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()


def date_of(seconds: float) -> str:
    """The date of seconds since 1970, as :func:`seconds_of` reads it: ``2026-12-01T08:00:00``."""
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None).isoformat()
