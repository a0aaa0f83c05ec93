#!/usr/bin/env python3
"""web.py [NAME...] - the pages of --html in a real browser (make test-web), from disk and without a network.

    BARCODE=out/bin/barcode tests/web.py

Everything is made here, from out/sample.mkv and out/clips, in out/test/web; the screenshots there are for looking at. A line a test,
figures among them; the last line counts. Exit status 1 when one failed.
"""
import json
import re
import sys
import time

import web_viewer  # noqa: F401
import web_gallery  # noqa: F401
from web_browser import CONTRAST
from cases import check, run, same, total
from web_cases import b, test, tests
from web_pages import SAMPLE, WORK, barcode, figure, make_pages, page


# ------------------------------------------------------------------ how it looks


@test
def grounds_are_readable():
    colours = {"white": "rgb(255, 255, 255)", "grey": "rgb(128, 128, 128)", "black": "rgb(0, 0, 0)"}
    ground = "return getComputedStyle(document.body).backgroundColor"
    b.open(page["sample"])
    same(b.js(ground), colours["grey"], "the ground at first")
    for name in ("sample", "broken", "shots", "gallery"):
        for which, colour in colours.items():
            for width, height in ((1440, 900), (390, 844)):
                b.look(width, height, touch=width < 500)
                b.open(page[name], "#colour=daa263" if name == "gallery" else "")
                b.click_on(f'#ground label:has([value="{which}"])')
                same(b.js(ground), colour, "the ground after the click")
                for _ in range(20):     # Chromium may give a new process what was stored before
                    b.open(page[name], "#colour=daa263" if name == "gallery" else "")
                    if b.js(ground) == colour:
                        break
                same(b.js(ground), colour, "the ground that was chosen")
                same(b.js("return document.querySelector('#ground input:checked').value"), which, "the button")
                b.js("document.querySelectorAll('details').forEach(e => { e.open = true })")
                seen, bad = b.js(CONTRAST)
                check(seen > 8 and not bad, f"{name}, {which}, {width}: {bad}")
                check(b.fits(), f"{name} is wider than {width}")
                b.js("document.querySelectorAll('details').forEach(e => { e.open = false })")
                b.shot(WORK / f"{name}-{'phone' if width < 500 else 'desktop'}-{which}.png", whole=width < 500)
    b.forget()


@test
def targets_have_room():
    """WCAG 2.2, 2.5.8 with a mouse; 2.5.5 (44 pixels) with a finger."""
    for name in ("sample", "gallery"):
        for width, least in ((1440, 24), (390, 44)):
            b.look(width, 844, touch=width < 500)
            for view in ("cards", "list") if name == "gallery" else ("",):
                b.open(page[name])
                if view:
                    b.click_on(f'#view label:has([value="{view}"])')
                small = b.js("return [...document.querySelectorAll('button, select, .choice label, .film, input[type=search], input[type=color], #hex')].filter(e => e.getClientRects().length).map(e => [e.id || e.className || e.textContent, e.offsetWidth, e.offsetHeight]).filter(([, w, h]) => Math.min(w, h) < arguments[0])", least)
                check(not small, f"{name} {view}, {width}: {small[:4]}")
    b.forget()


@test
def palette_of_any_size():
    for count in (2, 8, 32):
        for width in (390, 1440):
            b.look(width, 844, touch=width < 500)
            b.open(page[f"palette-{count}"])
            same(b.js("return document.querySelectorAll('#palette .swatch').length"), count, "swatches")
            check(b.fits(), f"{count} colours are wider than {width}")
            over = b.js("return [...document.querySelectorAll('#palette .swatch')].filter(e => e.scrollWidth > e.clientWidth).length")
            same(over, 0, f"swatches whose text has no room, {count} colours at {width}")
            b.shot(WORK / f"palette-{count}-{width}.png", whole=width < 500)


@test
def everything_has_a_name():
    for name in ("sample", "gallery"):
        b.open(page[name], "#colour=daa263" if name == "gallery" else "")
        reached = b.named()
        check(len(reached) > 8, f"{name}: {reached}")
        nameless = [role for role, called in reached if not called.strip()]
        check(not nameless, f"{name}: without a name: {nameless}")
    b.open(page["sample"])
    roles = dict((called, role) for role, called in b.named())
    same(roles.get("Place in the film"), "slider", "the strip")


@test
def tab_reaches_all():
    b.open(page["sample"])
    order = []
    for _ in range(40):
        b.key("Tab")
        here = b.js("const e = document.activeElement; return e === document.body ? '' : e.id || e.name || e.className || e.tagName")
        outline = b.js("const e = document.activeElement, s = getComputedStyle(e.type === 'radio' ? e.parentNode : e); return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2")
        check(not here or outline, f"focus on {here} is not to be seen")
        order.append(here)
        if here == "SUMMARY":
            break
    same(list(dict.fromkeys(order)), ["ground", "strip", "modes", "in", "save", "swatch", "BUTTON", "SUMMARY"], "the order of focus")
    same(order.count("swatch"), b.js("return document.querySelectorAll('.swatch').length"), "swatches")


@test
def nothing_leaves():
    """All that the pages above asked for and said; so this is the last of them."""
    b.read_logs()
    asked = {url.split(":")[0] for url, _ in b.requests}
    check(len(b.requests) > 2 and asked <= {"file", "data", "about", "blob"}, f"{asked}")
    other = {url.split("#")[0] for url, kind in b.requests if url.startswith("file:") and kind != "Document"}
    check(not other, f"asked for {other}")
    check(not b.console, f"{b.console[:3]}")



# ------------------------------------------------------------------ exports


@test
def exports_are_read():
    """The browser's own parsers of WebVTT and CSS, over what --thumbnails and --swatches wrote."""
    folder = WORK / "exports"
    folder.mkdir()
    barcode(SAMPLE, "-n", 2, "-o", folder / "s.png", "--thumbnails", folder, "--swatches", folder / "s.css", "--swatches", folder / "s.json")
    (folder / "readers.html").write_text("<!DOCTYPE html><meta charset=utf-8><link rel=stylesheet href=s.css><video></video>")
    b.open(folder / "readers.html")
    cues = b.later("""const track = document.createElement('track'), url = URL.createObjectURL(new Blob([arguments[0]], {type: 'text/vtt'}));
        track.kind = 'metadata'; track.default = true; track.src = url;
        const ends = new Promise((yes, no) => { track.onload = yes; track.onerror = () => no('refused'); });
        document.querySelector('video').append(track); track.track.mode = 'hidden'; await ends;
        return [...track.track.cues].map(c => [c.startTime, c.endTime, c.text]);""", (folder / "sample.vtt").read_text())
    check(isinstance(cues, list) and len(cues) > 80, f"{str(cues)[:200]}")
    check(all(a[1] <= n[0] + 1e-6 and a[0] < a[1] for a, n in zip(cues, cues[1:])), "cues lie in each other")
    check(abs(cues[0][0]) < 0.1 and 80 < cues[-1][1] < 100, f"from {cues[0][0]} to {cues[-1][1]}")
    for start, _, place in (cues[0], cues[len(cues) // 2], cues[-1]):
        name, x, y, w, h = re.fullmatch(r"(sample-\d+\.jpg)#xywh=(\d+),(\d+),(\d+),(\d+)", place).groups()
        size = b.later("const i = new Image(); i.src = arguments[0]; await i.decode(); return [i.naturalWidth, i.naturalHeight];", name)
        check(int(x) + int(w) <= size[0] and int(y) + int(h) <= size[1], f"{place} of {size} at {start}")
    want = [c["hex"] for c in json.loads((folder / "s.json").read_text())["colours"]]
    mine = b.js("const s = getComputedStyle(document.documentElement); return arguments[0].map((c, i) => s.getPropertyValue(`--film-${i + 1}`).trim())", want)
    same(mine, want, "the custom properties")


def main():
    began = time.monotonic()
    make_pages()
    figure(f"pages made in {time.monotonic() - began:.0f} s; {page['sample'].stat().st_size / 1e6:.2f} MB for 1,071 columns in five modes")
    b.start(WORK / "downloads")
    try:
        results = []
        for f in tests:
            if len(sys.argv) == 1 or f.__name__ in sys.argv[1:]:
                b.look()
                results.append(run(f))
    finally:
        b.close()
    return total(results)


if __name__ == "__main__":
    sys.exit(main())
