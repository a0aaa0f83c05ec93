#!/usr/bin/python3
"""Checks of data.sh, in its folder.

    data_check.py FOLDER          FOLDER/barcode.py and pandas read the same from CSV and JSON
    data_check.py --r TEXT CSV    the means that R has printed are those of the CSV
"""

import csv
import sys


def check_python():
    import barcode
    import pandas

    rows = barcode.read("all.csv")
    films = list(dict.fromkeys(c.title for c in rows))
    assert films == ["NA", "=1+1", "é"], films
    assert rows[0].file == "films/NA.mkv" and rows[10].file == 'films/b, "c".mkv', rows[10]
    assert [c.time for c in rows[:3]] == [0.0, 0.2, 0.4] and rows[3].frame == 15, rows[:3]
    assert all(c.values["r"] == c.colour[0] and not c.colours and not c.shares for c in rows), rows
    every = barcode.read("wide.csv")
    assert [c.colour for c in every] == [c.colour for c in rows]
    for c in every:
        assert c.colour == c.colours[0] and len(c.colours) == len(c.shares) == 4, c
        assert abs(sum(c.shares) - 1) < 1e-5 and c.values["r"] == c.colour[0], c
    assert rows[5].colour != rows[15].colour

    # The same film from CSV and JSON, number by number.
    for a, b in zip(barcode.read("na.csv"), barcode.read("na.json")):
        assert (a.title, a.file, a.column, a.frame, a.time, a.status) == (b.title, b.file, b.column, b.frame, b.time, b.status)
        assert (a.colour, a.average, a.dominant, a.colours) == (b.colour, b.average, b.dominant, b.colours), (a, b)
        assert all(abs(x - y) < 1e-6 for x, y in zip(a.shares, b.shares)), (a, b)
    assert [c.colour for c in barcode.read("few.csv")] == [c.colour for c in rows[:10]]

    df = barcode.data_frame("all.csv")
    assert list(df.groupby("title", sort=False).size().items()) == [("NA", 10), ("=1+1", 10), ("é", 10)], df.title
    assert df[["time", "r", "g", "b", "lightness", "chroma", "hue", "contrast"]].dtypes.map(pandas.api.types.is_numeric_dtype).all()
    assert df["lightness"].between(0, 100).all() and len(df.columns) == 15
    wide = barcode.data_frame("wide.csv")
    assert wide["colour_1"].str.match("#[0-9a-f]{6}$").all()
    assert [barcode._rgb(h) for h in wide["colour_1"]] == list(zip(df["r"], df["g"], df["b"]))
    assert len(wide.columns) > 100 and wide["ok_hue_4"].dtype == float and wide["film"].nunique() == 3
    # What read_csv alone gives is the same but for the text.
    plain = pandas.read_csv("all.csv")
    assert plain["contrast"].equals(df["contrast"]) and plain["time"].equals(df["time"])
    both = barcode.data_frame("na.json").merge(barcode.data_frame("na.csv"), on=["file", "column"])
    assert (both["colour_1_x"] == both["colour_1_y"]).all() and (both["r_x"] == both["r_y"]).all() and len(both) == 10


def check_r(said, table):
    """A line of R: number, title, lightness, chroma, contrast."""
    want = {}
    with open(table, newline="", encoding="utf-8") as f:
        for row in csv.DictReader(f):
            want.setdefault(row["title"].replace("'=", "="), []).append([float(row[k]) for k in ("lightness", "chroma", "contrast")])
    with open(said, encoding="utf-8") as f:
        lines = [line.split() for line in f][1:]
    assert len(lines) == len(want) == 3, lines
    for line, (title, rows) in zip(lines, want.items()):
        means = [sum(v) / len(v) for v in zip(*rows)]
        assert line[1] == title and all(abs(float(x) - y) < 1e-3 for x, y in zip(line[2:], means)), (line, title, means)


if sys.argv[1] == "--r":
    check_r(*sys.argv[2:])
else:
    sys.path.insert(0, sys.argv[1])
    check_python()
