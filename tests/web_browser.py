"""web_browser.py - a headless Chromium for tests/web.py: real pointers, fingers and keys by the DevTools protocol, and what it logged."""
import base64
import json
import time

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

KEYS = {"ArrowRight": 39, "ArrowLeft": 37, "Home": 36, "End": 35, "PageUp": 33, "PageDown": 34, "Escape": 27, "Tab": 9, "Enter": 13, "+": 187, "-": 189}


class Browser:
    def start(self, downloads):
        options = webdriver.ChromeOptions()
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--window-size=1280,800"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        self.requests, self.console = [], []
        self.downloads = downloads
        self.cdp("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(downloads))
        # A page that asks for anything would get no answer either.
        self.cdp("Network.enable")
        self.cdp("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
        self.look()

    def cdp(self, method, **parameters):
        return self.driver.execute_cdp_cmd(method, parameters)

    def js(self, script, *args):
        return self.driver.execute_script(script, *args)

    def later(self, script, *args):
        """The value that a promise comes to."""
        return self.driver.execute_async_script("const done = arguments[arguments.length - 1]; (async (...arguments) => {" + script + "})(...arguments).then(done, e => done('failed: ' + e));", *args)

    def look(self, width=1280, height=800, touch=False, scale=1):
        self.width = width
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=touch)
        self.cdp("Emulation.setTouchEmulationEnabled", enabled=touch)
        self.cdp("Emulation.setEmulatedMedia", media="")

    def open(self, path, hash_=""):
        """A fresh load, also of the page that is there."""
        self.driver.get("about:blank")
        self.driver.get(path.resolve().as_uri() + hash_)
        self.settle()

    def fits(self):
        """Whether nothing is wider than the screen. A phone's innerWidth would grow with it."""
        return self.js("return document.documentElement.scrollWidth <= arguments[0]", self.width)

    def forget(self):
        """What pages asked the browser to remember."""
        self.js("localStorage.clear()")

    def settle(self):
        self.later("await new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)));")

    def read_logs(self):
        """Adds to `requests` what pages asked the network for, and to `console` what they said."""
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self.requests.append((message["params"]["request"]["url"], message["params"].get("type")))
        self.console += [f"{e['level']} {e['message']}" for e in self.driver.get_log("browser")]

    # ---- hands

    def mouse(self, kind, x, y, **more):
        self.cdp("Input.dispatchMouseEvent", type="mouse" + kind, x=x, y=y, **more)

    def move(self, x, y, buttons=0):
        self.mouse("Moved", x, y, buttons=buttons, button="left" if buttons else "none")
        self.settle()

    def click(self, x, y, count=1):
        self.move(x, y)
        self.mouse("Pressed", x, y, button="left", clickCount=count, buttons=1)
        self.mouse("Released", x, y, button="left", clickCount=count)
        self.settle()

    def click_on(self, selector):
        """Clicks it where it has come to rest: pictures that are still decoded move what is below them."""
        box, before = None, []
        while box != before:
            before = box
            self.settle()
            box = self.js("const e = document.querySelector(arguments[0]); e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]", selector)
        self.click(*box)

    def drag(self, x0, x1, y):
        self.move(x0, y)
        self.mouse("Pressed", x0, y, button="left", clickCount=1, buttons=1)
        for step in range(1, 6):
            self.move(x0 + (x1 - x0) * step / 5, y, buttons=1)
        self.mouse("Released", x1, y, button="left", clickCount=1)
        self.settle()

    def fingers(self, kind, *points):
        self.cdp("Input.dispatchTouchEvent", type="touch" + kind, touchPoints=[{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)])
        self.settle()

    def key(self, name, shift=False):
        text = {"text": name} if len(name) == 1 else {"text": "\r"} if name == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.cdp("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=KEYS[name], modifiers=8 if shift else 0, **(text if kind == "keyDown" else {}))
        self.settle()

    def type(self, text):
        self.cdp("Input.insertText", text=text)
        self.settle()

    # ---- pictures

    def shot(self, path, whole=False):
        time.sleep(0.25)
        clip = {}
        if whole:
            size = self.cdp("Page.getLayoutMetrics")["cssContentSize"]
            clip = {"clip": {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 2400), "scale": 1}, "captureBeyondViewport": True}
        path.write_bytes(base64.b64decode(self.cdp("Page.captureScreenshot", format="png", **clip)["data"]))

    def pdf(self, path):
        path.write_bytes(base64.b64decode(self.cdp("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"]))
        return path.read_bytes()

    def named(self):
        """[(role, name)...] of all that the keyboard reaches, as a screen reader has it."""
        nodes = self.cdp("Accessibility.getFullAXTree")["nodes"]
        reached = [n for n in nodes if not n.get("ignored") and any(p["name"] == "focusable" and p["value"].get("value") for p in n.get("properties", []))]
        return [(n["role"]["value"], n.get("name", {}).get("value", "")) for n in reached if n["role"]["value"] not in ("RootWebArea",)]

    def close(self):
        self.driver.quit()


# Text against what lies behind it, as WCAG 2.1 has it (1.4.3): [[ratio, needed, text]...] of what falls short.
CONTRAST = r"""
const channel = c => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const parse = text => { const n = text.match(/[\d.]+/g).map(Number); return n.length > 3 ? n : [...n, 1]; };
const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c[3] === 1) return c; } return [255, 255, 255, 1]; };
const bad = [];
let seen = 0;
for (const e of document.querySelectorAll('body *')) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) || (e.tagName === 'INPUT' && e.type !== 'radio' && e.type !== 'color');
    if (!own || e.disabled || e.closest('script,noscript,option,.unseen,[hidden]') || !e.getClientRects().length) continue;
    const style = getComputedStyle(e), size = parseFloat(style.fontSize), needed = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
    const a = light(parse(style.color)), b = light(behind(e)), ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    seen++;
    if (ratio < needed) bad.push([ratio, needed, e.textContent.slice(0, 40)]);
}
return [seen, bad];
"""

# What the main thread does for one move of the pointer, in ms: the handlers, and what they do to the page, layout included.
MOVES = r"""
const strip = document.getElementById('strip'), box = strip.getBoundingClientRect(), took = [];
for (let n = 0; n < 120; n++) {
    const x = box.left + (0.5 + 0.49 * Math.sin(n * 1.7)) * box.width;
    took.push(await new Promise(done => {
        let began, handlers;
        requestAnimationFrame(() => { began = performance.now(); });
        const t = performance.now();
        strip.dispatchEvent(new PointerEvent('pointermove', {pointerId: 1, pointerType: 'mouse', clientX: x, clientY: box.top + 50, bubbles: true}));
        handlers = performance.now() - t;
        requestAnimationFrame(() => { document.body.getBoundingClientRect(); void document.body.offsetHeight; done(handlers + performance.now() - began); });
    }));
}
took.sort((a, b) => a - b);
return [took[60], took[113], took[119]];
"""
