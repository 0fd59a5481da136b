"""A cut text as something to keep: plain text, JSON, CSV, and numbered blocks in the manner of subtitles."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping

from .segmentation import Segmentation

WORDS_PER_MINUTE = 150  # speaking rate of the times in blocks


def as_text(cut: Segmentation) -> str:
    """One sentence a line; topics as paragraphs, an empty line between them."""
    between = "\n\n" if cut.granularity == "topic" else "\n"
    parts = (cut.text[a:b] for a, b in cut.segments)
    return between.join(" ".join(part.split("\n")) if between == "\n" else part for part in parts) + "\n"


def as_json(cut: Segmentation, about: Mapping[str, object] | None = None) -> str:
    """Everything that is known of the cut; about: what made it (model, revision, seed, settings)."""
    return json.dumps(
        {
            **(about or {}),
            "granularity": cut.granularity,
            "method": cut.method,
            "threshold": None if cut.threshold != cut.threshold else cut.threshold,
            "notes": list(cut.notes),
            "boundaries": cut.boundaries.tolist(),
            "segments": _rows(cut),
        },
        ensure_ascii=False,
        indent=1,
    )


def as_csv(cut: Segmentation, about: Mapping[str, object] | None = None) -> str:
    """A table: number, start, end, confidence of the boundary behind it, name, text; about: "#" lines on top of it."""
    lines = io.StringIO(newline="")
    for name, value in (about or {}).items():
        lines.write(" ".join(f"# {name}: {value}".split()) + "\n")
    writer = csv.DictWriter(lines, ["number", "start", "end", "confidence", "name", "text"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(row | {"text": _harmless(str(row["text"]))} for row in _rows(cut))
    return lines.getvalue()


def as_blocks(cut: Segmentation, words_per_minute: float = WORDS_PER_MINUTE) -> str:
    """Numbered blocks with times in the manner of SubRip; the times are those of reading aloud at a steady rate."""
    blocks, words = [], 0
    for row in _rows(cut):
        begin = 60 * words / words_per_minute
        words += len(str(row["text"]).split())
        text = "\n".join(line for line in str(row["text"]).split("\n") if line.strip())
        blocks.append(f"{row['number']}\n{_time(begin)} --> {_time(60 * words / words_per_minute)}\n{text}\n")
    return "\n".join(blocks)


def _rows(cut: Segmentation) -> list[dict[str, object]]:
    segments, confidence = cut.segments, cut.confidence
    behind = dict(zip(cut.boundaries.tolist(), confidence.tolist(), strict=True))
    return [
        {
            "number": number,
            "start": start,
            "end": end,
            "confidence": round(behind[end], 4) if end in behind else None,
            "name": cut.names[number - 1] if number <= len(cut.names) else "",
            "text": cut.text[start:end],
        }
        for number, (start, end) in enumerate(segments, 1)
    ]


def _time(seconds: float) -> str:
    thousandths = round(1000 * seconds)
    hours, rest = divmod(thousandths, 3_600_000)
    minutes, rest = divmod(rest, 60_000)
    return f"{hours:02}:{minutes:02}:{rest // 1000:02},{rest % 1000:03}"


def _harmless(text: str) -> str:
    """A cell that a spreadsheet would run as a formula is told as text."""
    return f"'{text}" if text[:1] in "=+-@\t" else text
