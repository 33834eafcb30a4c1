"""Rows as a table: columns for the usual questions, and the whole opportunity as JSON for all others."""

import datetime as dt
import json
from typing import Any

import pyarrow as pa

ANSWER = pa.struct(
    [
        ("arm", pa.string()),
        ("model", pa.string()),
        ("role", pa.string()),
        ("status", pa.string()),
        ("text", pa.string()),
        ("total_ms", pa.float64()),
    ]
)

SCHEMA = pa.schema(
    [
        ("number", pa.int64()),
        ("id", pa.string()),
        ("opened_at", pa.timestamp("ms", tz="UTC")),
        ("repository", pa.string()),
        ("licences", pa.list_(pa.string())),
        ("trial", pa.string()),
        ("mode", pa.string()),
        ("language", pa.string()),
        ("privacy", pa.string()),
        ("exposure", pa.string()),
        ("outcome", pa.string()),
        ("scenario", pa.string()),
        ("path", pa.string()),
        ("prefix", pa.large_string()),
        ("suffix", pa.large_string()),
        ("truth", pa.large_string()),
        ("answers", pa.list_(ANSWER)),
        ("opportunity", pa.large_string()),
    ]
)

# Stages of a truth, the later ones last.
STAGES = ("settled", "leave_block", "idle", "save", "close", "commit")


def opened_at(row: dict[str, Any]) -> dt.datetime:
    """Return when an opportunity began."""
    text: str = row["opportunity"]["opened_at"]
    return dt.datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(dt.timezone.utc)


def columns(row: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of a row."""
    opportunity = row["opportunity"]
    cursor = opportunity["cursor"]
    return {
        "number": row["number"],
        "id": opportunity["id"],
        "opened_at": opened_at(row),
        "repository": row["repository"],
        "licences": row["licences"] or [],
        "trial": opportunity.get("trial"),
        "mode": opportunity["mode"],
        "language": cursor["language"],
        "privacy": opportunity["privacy"],
        "exposure": opportunity["exposure"],
        "outcome": opportunity["outcome"]["kind"],
        "scenario": (opportunity.get("task") or {}).get("scenario"),
        "path": cursor["path"],
        "prefix": cursor["prefix"],
        "suffix": cursor["suffix"],
        "truth": truth(opportunity),
        "answers": [answer(it) for it in opportunity.get("answers", [])],
        "opportunity": json.dumps(opportunity, ensure_ascii=False),
    }


def truth(opportunity: dict[str, Any]) -> str | None:
    """Return the text of the latest stage; none before there is a truth."""
    truths = opportunity.get("truths", [])
    latest = max(truths, key=lambda it: STAGES.index(it["stage"]) if it["stage"] in STAGES else -1, default=None)
    return None if latest is None else latest["text"]


def answer(it: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of an answer."""
    return {
        "arm": it["arm"],
        "model": it["engine"]["model"],
        "role": it["role"],
        "status": it["status"],
        "text": it.get("text", ""),
        "total_ms": it["ms"]["total"],
    }


def merged(earlier: list[dict[str, Any]], new: list[dict[str, Any]]) -> pa.Table:
    """Return a table of columns in which each opportunity is once, in its latest state."""
    latest: dict[str, dict[str, Any]] = {}
    for row in [*earlier, *new]:
        known = latest.get(row["id"])
        if known is None or known["number"] <= row["number"]:
            latest[row["id"]] = row
    rows = sorted(latest.values(), key=lambda row: row["number"])
    return pa.Table.from_pylist(rows, schema=SCHEMA)
