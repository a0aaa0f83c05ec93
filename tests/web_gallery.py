"""web_gallery.py - tests/web.py's tests of the gallery."""
import base64
import io
import re
import shutil
import time

from PIL import Image

from cases import check, same
from web_cases import b, test, text
from web_pages import CLIPS, WORK, barcode, figure, page


def names():
    return b.js("return [...document.querySelectorAll('#films .name')].map(e => e.textContent)")


def sort(by):
    b.js("const s = document.getElementById('sort'); s.value = arguments[0]; s.dispatchEvent(new Event('change'))", by)
    b.settle()


@test
def gallery_sorts():
    b.open(page["gallery"])
    parts = [f"One day, in known colours (Part {i})" for i in range(1, 7)]    # all have the same title
    same(sorted(names()), sorted([*parts, 'script>"']), "films")
    same([n for n in names() if "Part" in n], parts, "by name")
    sort("length")
    lengths = names()
    same([n for n in lengths if "Part" in n], parts, "by length")
    b.click_on("#turn")
    same(names(), lengths[::-1], "turned")
    sort("light")
    light = names()
    sort("hue")
    check(sorted(names()) == sorted(light) and names() != light, "hue and lightness sort alike")
    b.js("document.getElementById('text').focus()")
    b.type("part 3")
    same(names(), [parts[2]], "search by name")
    same(text("#sub"), "1 film of 7 films", "what is said")


@test
def gallery_has_titles():
    b.open(page["titles"])
    called = b.js("return [['A film', 'x.mkv'], ['', 'A.Film_of.mine.2010.1080p.BluRay.x264.mkv'], [' ', 'Mr. Nobody (2009).mkv'], ['', '1080p.mkv'], ['', '.mkv'], [null, 'A Film [720p].mp4'], ['', 'no-ending']].map(a => common.called(...a))")
    same(called, ["A film", "A Film of mine 2010", "Mr. Nobody (2009)", "1080p", "mkv", "A Film", "no-ending"], "what films are called")
    same(names(), ["One day, in known colours", "Part of a day"], "by title")
    same(b.js("return document.querySelector('.film').title"), "One day, in known colours (whole.mkv)", "the file's name")
    b.js("document.getElementById('text').focus()")
    b.type("whole.mkv")
    same(names(), ["One day, in known colours"], "search by the file's name")


@test
def gallery_shows_the_mode():
    """The one that was asked for; the page has k-means anyway."""
    for mode, size in (("average", (480, 1)), ("palette", (320, 16))):
        b.open(page["titles"].with_name(f"{mode}.html"))
        src = b.js("return [...document.querySelectorAll('.film')].find(e => e.title.includes('whole')).querySelector('img').src")
        mine = Image.open(io.BytesIO(base64.b64decode(src.split(",")[1]))).convert("RGB")
        other = Image.open(WORK / f"card-{mode}.png").convert("RGB")
        same((mine.size, mine.tobytes()), (size, other.tobytes()), mode)


@test
def gallery_lists():
    b.look(1440, 900)
    b.open(page["many"])
    count = "return [...document.querySelectorAll('#films > li')].filter(e => e.getBoundingClientRect().bottom <= innerHeight).length"
    cards = b.js(count)
    b.click_on('#view label:has([value="list"])')
    listed = b.js(count)
    figure(f"1440 x 900: {cards} cards, {listed} lines")
    check(listed > 80 and cards < 30, f"{listed} lines, {cards} cards")
    b.shot(WORK / "list-desktop-grey.png")
    sort("length")
    length = b.js("return [...document.querySelectorAll('.film .length')].slice(-3).map(e => e.textContent)")
    check(all(t.startswith("2 h") for t in length), f"sorted: {length}")
    b.look(390, 844, touch=True)
    b.open(page["many"])
    same(b.js("return document.getElementById('films').className + document.querySelector('#view input:checked').value"), "listlist", "remembered")
    check(b.js(count) >= 10 and b.fits(), "the list on a phone")
    b.shot(WORK / "list-phone-grey.png")
    b.click_on('#view label:has([value="cards"])')
    b.open(page["many"])
    same(b.js("return document.getElementById('films').className"), "", "cards again")
    b.forget()


@test
def gallery_finds_colours():
    b.open(page["gallery"])
    b.js("document.getElementById('hex').focus()")
    b.type("#2b8896")
    check(0 < len(names()) < 7 and "with this colour" in text("#sub"), f"{names()}, {text('#sub')}")
    moments = b.js("return [...document.querySelectorAll('.moments a')].map(e => [e.getAttribute('href'), e.getAttribute('aria-label')])")
    check(moments and all(re.fullmatch(r"Part%20\d\.html#t=\d+&from=index\.html", m[0]) for m in moments), f"{moments[:3]}")
    b.click_on(".moments a")
    time.sleep(0.5)
    b.settle()
    t = int(re.search(r"t=(\d+)", b.js("return location.hash")).group(1))
    check(abs(b.js("return document.getElementById('time').textContent.split(':').reduce((s, n) => 60 * s + Number(n), 0)") - t) <= 1, text("#time"))
    # That colour is there.
    near = b.js("const want = common.oklab(0x2b, 0x88, 0x96); return Math.min(...[...document.querySelectorAll('#colours li:not([hidden]) .hex')].map(e => { const lab = common.oklab(...common.rgb(e.textContent)); return Math.hypot(...lab.map((v, i) => v - want[i])); }))")
    check(near < 0.15, f"the nearest colour there is {near} away")
    b.click_on("#back")
    time.sleep(0.3)
    same(text("h1"), "Films", "the way back")


@test
def names_are_data():
    b.open(page["gallery"])
    check('script>"' in names(), "the name is not shown as it is")
    href = b.js("return [...document.querySelectorAll('.film')].find(e => e.textContent.includes('script>')).getAttribute('href')")
    same(href, "%3Cscript%3Ealert%281%29%3C/script%3E%22.html#from=../index.html", "its link")
    b.click_on('.film[href*="script"]')
    time.sleep(0.5)
    same(text("h1"), 'script>"', "its page")
    evil = WORK / '<img src=x onerror=alert(1)>&amp;<script>alert(1)<\u2028script>".mkv'
    shutil.copy(CLIPS / "one-frame.mkv", evil)
    barcode(evil, "-o", WORK / "evil.html")
    b.open(WORK / "evil.html")
    same(text("h1"), evil.name[:-4], "the name")
    same(b.js("return document.images.length"), text("#film").count('"note"') + 1, "images")


@test
def thousand_films():
    b.open(page["many"])
    same(len(names()), 1005, "films")
    paint = b.js("return performance.getEntriesByName('first-contentful-paint')[0].startTime")
    took = {}
    for what, script in (("sort", "const s = document.getElementById('sort'); s.value = 'hue'; s.dispatchEvent(new Event('change'));"),
                         ("search", "const s = document.getElementById('hex'); s.value = '#2b8896'; s.dispatchEvent(new Event('input'));"),
                         ("again", "const s = document.getElementById('hex'); s.value = '#a03040'; s.dispatchEvent(new Event('input'));")):
        took[what] = b.later("const t = performance.now();" + script + "await new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => { void document.body.offsetHeight; r(); }))); return performance.now() - t;")
    figure(f"1,005 films: first paint {paint:.0f} ms, " + ", ".join(f"{k} {v:.0f} ms" for k, v in took.items()))
    check(paint < 8000 and max(took.values()) < 6000, "slow")
    check(0 < len(names()), "nothing found")
    first = b.js("return document.querySelector('.film').getAttribute('href')")
    check(first.startswith("shelf%20") and first.endswith("#from=../index.html"), first)
    b.js("document.getElementById('clear').click()")
    b.settle()
    b.shot(WORK / "many-desktop-grey.png")
