"""live_page.py - the page in Chromium, with a made feed; screenshots in out/test/live/page."""
import http.server
import threading
import time

from cases import check, same, wait_for
from live_cases import Feed, figure, folder, test_alone
from web_browser import CONTRAST, Browser

# What the canvas has of the complete columns: [[number, missing, [the pixels' bytes]]...].
PAINTED = """
const context = document.getElementById('strip').getContext('2d'), found = [], height = context.canvas.height;
const length = barcode.count() - 1, d = context.getImageData(0, 0, length, height).data;
for (let x = 0; x < length; x++) {
    const c = barcode.column(barcode.first() + x), to = [];
    for (let y = 0; y < height; y++) to.push(...d.slice(4 * (y * length + x), 4 * (y * length + x) + 3));
    found.push([barcode.first() + x, c ? c.missing : null, to]);
}
return found;
"""


def browser():
    b = Browser()
    b.start(folder("downloads"))
    b.cdp("Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1)
    return b


def same_as_made(b, feed):
    """All columns on the canvas are those that were made, and no number is left out; their number."""
    found = b.js(PAINTED)
    for number, missing, pixels in found:
        same(missing, number % 10 == 9, f"column {number} is missing")
        check(missing or bytes(pixels) == feed.pixels(number), f"the pixels of column {number} are others")
        check(not missing or set(pixels) == {0x1c, 0x38}, f"column {number} is not hatched")
    return len(found)


def look_at(b, feed, pictures):
    for width, height in ((1440, 900), (390, 844)):
        b.look(width, height, touch=width < 500)
        b.driver.get(feed.url)
        wait_for(lambda: b.js("return barcode.count() > 100"), 5, "the columns")
        b.settle()
        check(b.fits(), f"wider than {width}")
        seen, bad = b.js(CONTRAST)
        check(seen > 6 and not bad, f"{width}: {bad}")
        least = 44 if width < 500 else 24
        small = b.js("return [...document.querySelectorAll('button, a')].filter(e => e.getClientRects().length).map(e => [e.id, e.offsetWidth, e.offsetHeight]).filter(([, w, h]) => Math.min(w, h) < arguments[0])", least)
        check(not small, f"{width}: {small}")
        labels = b.js("return [...document.querySelectorAll('#axis span')].map(e => [e.textContent, e.getBoundingClientRect().left])")
        check(len(labels) > 0, "no time at the axis")
        apart = [y[1] - x[1] for x, y in zip(labels, labels[1:])]
        check(not apart or min(apart) > 60, f"labels lie on each other: {labels}")
        b.shot(pictures / f"page-{width}.png")
        b.click_on("#whole")
        b.shot(pictures / f"page-{width}-all.png")
        check(b.js("return document.getElementById('scroller').scrollWidth <= arguments[0]", width), "Show all does not fit")
    names = b.named()
    check(len(names) > 2 and all(name.strip() for _, name in names), f"without a name: {names}")


def delays(b, feed, count):
    """Seconds from the beginning of a column to its being on the page."""
    late, last = [], b.js("return barcode.newest()")
    while len(late) < count:
        newest = b.js("return barcode.newest()")
        if newest > last:
            late.append(time.time() - newest * feed.period_ms / 1000)
            last = newest
        time.sleep(0.01)
    return late


@test_alone
def page_shows_each_column_within_a_second():
    pictures, feed = folder("page"), Feed(period_ms=200, height=200, before=400)
    b = browser()
    try:
        look_at(b, feed, pictures)
        b.look()
        b.driver.get(feed.url)
        wait_for(lambda: b.js("return barcode.count() > 400"), 5, "the columns")
        late = sorted(delays(b, feed, 20))
        check(late[-1] < 1, f"columns come {late} s late")
        figure(f"page: a column is there {late[10] * 1000:.0f} ms after its beginning (median; at most {late[-1] * 1000:.0f} ms)")
        check(same_as_made(b, feed) > 400, "columns are missing")
        for _ in range(3):  # one of ten columns is missing
            wait_for(lambda: b.js("return document.getElementById('state').textContent.trim()") == "connected, a column every 0.2 s", 20, "the state")
            wait_for(lambda: b.js("return document.getElementById('state').textContent.trim()") == "no picture from the source", 20, "the state of a missing column")
        # One that went back in time stays there, and returns.
        b.js("document.getElementById('scroller').scrollLeft = 0")
        b.settle()
        time.sleep(0.7)
        same(b.js("return document.getElementById('scroller').scrollLeft"), 0, "the place that was scrolled to")
        b.click_on("#now")
        time.sleep(0.3)
        check(b.js("const s = document.getElementById('scroller'); return s.scrollLeft + s.clientWidth >= s.scrollWidth - 2"), "Newest does not go there")
        b.read_logs()
        other = [url for url, _ in b.requests if not url.startswith((feed.url, "data:", "about:"))]
        check(len(b.requests) > 4 and not other, f"asked for {other}")
        check(not b.console, f"{b.console[:3]}")
    finally:
        b.close()
        feed.stop()


@test_alone
def page_survives_restarts():
    feed = Feed(period_ms=100, height=60, before=50)
    b = browser()
    try:
        b.driver.get(feed.url)
        wait_for(lambda: b.js("return barcode.count() > 50"), 5, "the columns")
        first = b.js("window.same = true; return barcode.first()")
        for kill in (True, False):
            feed.stop(kill=kill)
            wait_for(lambda: b.js("return document.body.dataset.state") == "reconnecting", 5, "the state")
            time.sleep(1)
            feed = Feed(f"127.0.0.1:{feed.port}", period_ms=100, height=60, before=200)
            began = time.monotonic()
            wait_for(lambda: b.js("return document.body.dataset.state") in ("connected", "silent"), 10, "the connection")
            figure(f"page: connected again {time.monotonic() - began:.1f} s after the server was there")
            wait_for(lambda: b.js("return barcode.newest()") >= feed.now() - 2, 5, "the columns of meanwhile")
            check(same_as_made(b, feed) > 60, "columns are missing")
        same(b.js("return [window.same, barcode.first()]"), [True, first], "the page was not loaded again")
        # Another T has other numbers: the page begins anew.
        feed.stop()
        feed = Feed(f"127.0.0.1:{feed.port}", period_ms=250, height=60, before=20)
        wait_for(lambda: b.js("return !window.same && window.barcode && barcode.count() > 20"), 15, "a page of another T")
        check(same_as_made(b, feed) >= 20, "columns are missing")
    finally:
        b.close()
        feed.stop()


EVIL = """<!DOCTYPE html><title>evil</title><script>
const base = 'http://127.0.0.1:%d/', got = {};
const image = path => new Promise(done => { const i = new Image(); i.onload = () => done('loaded'); i.onerror = () => done('refused'); i.src = base + path; });
const ask = (path, options) => fetch(base + path, options).then(r => r.type === 'opaque' ? 'opaque' : r.text().then(() => 'read'), () => 'refused');
const frame = () => new Promise(done => { const f = document.createElement('iframe'); f.onload = () => setTimeout(() => { let t; try { t = f.contentWindow.barcode ? 'read' : 'refused'; } catch { t = 'refused'; } done(t); }, 300); f.src = base; document.body.append(f); });
addEventListener('load', async () => {
    window.result = [await ask('columns'), await ask('columns', {mode: 'no-cors'}), await image('strip.png'), await ask('', {method: 'POST', mode: 'no-cors', body: 'x'}), await frame()];
});
</script><body>"""


class Evil(http.server.BaseHTTPRequestHandler):
    victim = 0

    def do_GET(self):
        body = (EVIL % self.victim).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@test_alone
def pages_of_other_sites_read_nothing():
    feed = Feed()
    Evil.victim = feed.port
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Evil)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    b = browser()
    try:
        for name in ("localhost", "127.0.0.1"):
            b.driver.get(f"http://{name}:{server.server_port}/")
            got = wait_for(lambda: b.js("return window.result"), 15, "the other page")
            check("read" not in got and "loaded" not in got, f"a page of another site got {got}")
            same((got[0], got[2], got[4]), ("refused",) * 3, f"of {name}")
    finally:
        b.close()
        server.shutdown()
        feed.stop()
