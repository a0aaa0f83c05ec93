#!/usr/bin/env python3
"""Reads what `barcode --csv` and `barcode --json` wrote. One file, Python 3.8 or later; copy it.

    import barcode
    for c in barcode.read("all.csv"):            # also film.json; a list of Column
        print(c.title, c.time, c.colour)

    df = barcode.data_frame("all.csv")           # with pandas
    df.groupby("title")["lightness"].describe()

    python3 barcode.py all.csv                   # a line for each film
"""

import csv
import json
import os
import re
import sys
from dataclasses import dataclass, field
from typing import Dict, List, Optional, Tuple

Colour = Tuple[int, int, int]  # R, G, B of sRGB, 0 to 255


@dataclass
class Column:
    """A column of a film's barcode. What the file does not have is None, or empty."""

    title: str
    file: str
    column: int
    frame: Optional[int]
    time: Optional[float]  # seconds from the start of the film
    status: str  # ok, damaged or missing
    colour: Optional[Colour] = None  # what the column shows
    average: Optional[Colour] = None
    dominant: Optional[Colour] = None
    # the clusters, largest first; of a CSV with --csv-columns all
    colours: List[Colour] = field(default_factory=list)
    shares: List[float] = field(default_factory=list)  # their parts of the frame, 0 to 1
    values: Dict[str, float] = field(default_factory=dict)  # lightness, hue and other numbers by name


def read(path: str) -> List[Column]:
    """Reads a file of --csv or --json."""
    with open(path, newline="", encoding="utf-8") as f:
        if f.read(1) == "{":
            f.seek(0)
            return _from_json(json.load(f))
        f.seek(0)
        return [_from_csv(number, row) for number, row in enumerate(csv.DictReader(f))]


def data_frame(path: str):
    """Reads a file of --csv or --json as a pandas DataFrame: a row for each column of a film.

    A CSV keeps its columns. JSON has those of --csv without the quantities that are computed.
    """
    import pandas

    with open(path, encoding="utf-8") as f:
        is_json = f.read(1) == "{"
    if is_json:
        return pandas.DataFrame([_flat(c) for c in read(path)])
    # A film may be called "NA" or "1917": text stays text, and only an empty number is missing.
    text = {"title": str, "file": str, "film": str, "status": str}
    df = pandas.read_csv(path, dtype=text, keep_default_na=False, na_values={})
    for name in df.columns.difference(list(text)):
        if not re.fullmatch(r"(colour|average|dominant)(_\d+)?", name):
            df[name] = pandas.to_numeric(df[name])
    for name in df.columns.intersection(["title", "file"]):
        df[name] = df[name].map(_plain)
    return df


def _plain(text: str) -> str:
    """Removes the apostrophe that keeps spreadsheets from computing a name."""
    return text[1:] if re.match(r"'[-=+@\t\r]", text) else text


def _rgb(text: Optional[str]) -> Optional[Colour]:
    return tuple(bytes.fromhex(text[1:])) if text else None  # type: ignore[return-value]


def _number(text: Optional[str]) -> Optional[float]:
    return float(text) if text else None


def _clusters(row: Dict[str, str], name: str) -> List[str]:
    found = []
    while row.get(f"{name}_{len(found) + 1}"):
        found.append(row[f"{name}_{len(found) + 1}"])
    return found


def _from_csv(number: int, row: Dict[str, str]) -> Column:
    known = {"column", "frame", "time", "status", "title", "file", "film"}
    values = {k: float(v) for k, v in row.items() if k not in known and re.fullmatch(r"-?\d+(\.\d+)?", v)}
    frame, rgb = row.get("frame"), [values.get(k) for k in "rgb"]
    colour = tuple(int(v) for v in rgb) if None not in rgb else _rgb(row.get("colour"))
    return Column(
        title=_plain(row.get("title", "")),
        file=_plain(row.get("file", "")),
        column=int(row.get("column") or number),
        frame=int(frame) if frame else None,
        time=_number(row.get("time")),
        status=row.get("status", ""),
        colour=colour,  # type: ignore[arg-type]
        average=_rgb(row.get("average")),
        dominant=_rgb(row.get("dominant")),
        colours=[_rgb(c) for c in _clusters(row, "colour")],  # type: ignore[misc]
        shares=[float(s) for s in _clusters(row, "share")],
        values=values,
    )


def _from_json(film: dict) -> List[Column]:
    if film.get("format") != 1:
        raise ValueError("this is not the JSON of barcode --json that this file can read")
    path = film["film"]["path"]
    mode = re.search(r"mode=(\w+)", film.get("fingerprint", "mode=average"))
    columns = []
    for number, c in enumerate(film["columns"]):
        clusters = c.get("colours", [])
        total = sum(k["count"] for k in clusters)
        column = Column(
            title=os.path.splitext(os.path.basename(path))[0],
            file=path,
            column=number,
            frame=c["frame"],
            time=c["time"],
            status="missing" if c.get("missing") else "damaged" if c.get("damaged") else "ok",
            average=tuple(c["average"]) if "average" in c else None,
            dominant=tuple(c["dominant"]) if "dominant" in c else None,
            colours=[tuple(k["rgb"]) for k in clusters],
            shares=[k["count"] / total for k in clusters],
        )
        column.colour = _painted(column, mode.group(1) if mode else "", c.get("chosen", 0))
        columns.append(column)
    return columns


def _painted(c: Column, mode: str, chosen: int) -> Optional[Colour]:
    """Returns the colour that the mode paints: of a palette the largest cluster."""
    if mode in ("kmeans", "palette"):
        return c.colours[chosen if mode == "kmeans" else 0] if c.colours else None
    return c.dominant if mode == "dominant" else c.average


def _hex(colour: Optional[Colour]) -> Optional[str]:
    return "#%02x%02x%02x" % colour if colour else None


def _flat(c: Column) -> dict:
    row = {"column": c.column, "frame": c.frame, "time": c.time, "status": c.status}
    row.update(average=_hex(c.average), dominant=_hex(c.dominant))
    for i, (colour, share) in enumerate(zip(c.colours, c.shares), 1):
        row.update({f"colour_{i}": _hex(colour), f"share_{i}": share})
    row.update(zip("rgb", c.colour or (None, None, None)))
    row.update(title=c.title, file=c.file)
    return row


def main() -> int:
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    for path in sys.argv[1:]:
        films: Dict[str, List[Column]] = {}
        for column in read(path):
            films.setdefault(column.file or path, []).append(column)
        for name, columns in films.items():
            shown = [c.colour for c in columns if c.colour]
            mean = tuple(round(sum(v) / len(shown)) for v in zip(*shown)) if shown else None
            times = [c.time for c in columns if c.time is not None]
            print(f"{name}: {len(columns)} columns to {max(times, default=0):.1f} s, mean colour {_hex(mean)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
