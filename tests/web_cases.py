"""web_cases.py - what the files of tests/web.py share: the list of tests, the browser, and questions to a page."""
from cases import wait_for
from web_browser import Browser

tests = []
b = Browser()


def test(f):
    tests.append(f)
    return f


def strip_box():
    return b.js("const r = document.getElementById('strip').getBoundingClientRect(); return [r.left, r.top, r.width, r.height]")


def now():
    return b.js("return Number(document.getElementById('strip').getAttribute('aria-valuenow'))")


def text(selector):
    return b.js("return document.querySelector(arguments[0]).textContent", selector)


def shown():
    """The first and the last label of the axis."""
    labels = b.js("return [...document.querySelectorAll('#axis span')].map(e => e.textContent)")
    return labels[0], labels[-1]


def hover(share):
    x, y, w, h = strip_box()
    b.move(x + share * w, y + h / 2)


def downloaded(name):
    path = b.downloads / name
    wait_for(path.exists, 5, f"{name} is saved")
    data = path.read_bytes()
    path.unlink()
    return data
