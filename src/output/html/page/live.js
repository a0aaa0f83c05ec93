// The page of a live barcode. It asks its server for the columns after the last complete one, again
// and again, also over a restart of the server. The open column comes until its time is over.
"use strict";
(() => {
    const MOST = 16384, EXTRA = 1024;   // columns on the canvas; those dropped at once when it is full
    const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];
    const element = id => document.getElementById(id);
    const scroller = element("scroller"), track = element("track"), strip = element("strip"), mark = element("mark");
    let context = strip.getContext("2d", {alpha: false});
    let feed = null, first = null, columns = [], last = null, seen = null;  // seen: the newest column with a picture
    let pointed = null, follows = true, due = false, drawn = "";

    // ---- the columns

    const newest = () => first === null ? null : first + columns.length - 1;

    function makeRoom(count) {
        if (count <= strip.width && strip.height === feed.height) return;
        const old = document.createElement("canvas");
        old.width = strip.width;
        old.height = strip.height;
        old.getContext("2d", {alpha: false}).drawImage(strip, 0, 0);
        strip.width = Math.min(MOST + EXTRA, Math.max(256, 2 ** Math.ceil(Math.log2(count))));
        strip.height = feed.height;
        context = strip.getContext("2d", {alpha: false});
        if (columns.length) context.drawImage(old, 0, 0);
    }

    function dropOldest() {
        context.drawImage(strip, -EXTRA, 0);
        columns = columns.slice(EXTRA);
        first += EXTRA;
    }

    function draw(x, pixels) {
        const image = context.createImageData(1, feed.height), to = image.data;
        for (let y = 0; y < feed.height; y++) {
            const grey = (x + y) & 4 ? 0x38 : 0x1c;
            for (let i = 0; i < 3; i++) to[4 * y + i] = pixels ? pixels[3 * y + i] : grey;
            to[4 * y + 3] = 255;
        }
        context.putImageData(image, x, 0);
    }

    function add(column, pixels) {
        if (first === null || column.number > first + columns.length + MOST) {
            first = column.number;
            columns = [];
        }
        if (!column.missing) seen = column.number;
        if (column.number < first) return;
        while (column.number - first > MOST) dropOldest();
        makeRoom(column.number - first + 1);
        for (let n = first + columns.length; n < column.number; n++) {
            columns.push({number: n, missing: true, time: column.time - (column.number - n) * feed.period_us / 1000});
            draw(n - first, null);
        }
        columns[column.number - first] = column;
        draw(column.number - first, column.missing ? null : pixels);
    }

    // ---- what is shown

    const two = n => String(n).padStart(2, "0");
    const day = d => `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
    const clock = (d, seconds) => `${two(d.getHours())}:${two(d.getMinutes())}${seconds ? ":" + two(d.getSeconds()) : ""}`;

    function scale() {
        const width = scroller.clientWidth;
        if (document.body.classList.contains("whole")) return width / columns.length;
        return Math.max(1, Math.min(8, Math.floor(width / columns.length)));
    }

    function labelAxis(each) {
        const axis = element("axis"), start = columns[0].time, period = feed.period_us / 1000;
        const least = 84 * period / each / 1000, step = STEPS.find(s => s >= least) || Math.ceil(least / 86400) * 86400;
        const at = new Date(start), spans = [];
        at.setMilliseconds(0);
        if (step < 3600) at.setMinutes(0, 0); else at.setHours(0, 0, 0);
        let before = null;
        for (let guard = 0; guard < 3000 && at.getTime() <= start + columns.length * period; guard++) {
            if (at.getTime() >= start) {
                const span = document.createElement("span"), today = day(at);
                span.textContent = before !== null && before !== today ? today : clock(at, step < 60);
                before = today;
                span.style.left = `${(at.getTime() - start) / period * each}px`;
                spans.push(span);
            }
            if (step < 3600) at.setTime(at.getTime() + step * 1000); else at.setHours(at.getHours() + step / 3600);
        }
        axis.replaceChildren(...spans);
    }

    // Where the page follows: at the end, or if no picture comes any more, with three quarters for the last ones.
    function place() {
        const view = scroller.clientWidth, end = scroller.scrollWidth - view;
        return seen === null || seen < first ? end : Math.max(0, Math.min(end, (seen - first + 1) * scale() - view * 0.75));
    }

    function show() {
        due = false;
        if (!columns.length) return;
        const each = scale(), width = each * strip.width, length = each * columns.length;
        const key = `${each} ${columns.length} ${first} ${strip.width}`;
        if (key !== drawn) {
            drawn = key;
            strip.style.width = `${width}px`;
            track.style.width = `${Math.ceil(length)}px`;
            document.body.classList.toggle("fine", each < 1);
            labelAxis(each);
        }
        if (!document.body.dataset.state.startsWith("re")) tellSource();
        if (follows) scroller.scrollLeft = place();
        element("now").disabled = follows;
        const resting = seen === null || seen < first ? columns.length - 1 : seen - first;
        const column = columns[pointed === null ? resting : Math.min(pointed, columns.length - 1)];
        const at = new Date(column.time);
        element("when").textContent = `${day(at)} ${clock(at, true)}${column.missing ? " missing" : ""}`;
        for (const kind of ["average", "dominant"]) {
            element(kind).style.backgroundColor = column[kind] || "transparent";
            element(`${kind}-hex`).textContent = column[kind] || "\u2013";
        }
        mark.hidden = pointed === null;
        mark.style.left = `${((pointed || 0) + 0.5) * each}px`;
    }

    function soon() {
        if (!due) requestAnimationFrame(show);
        due = true;
    }

    // The server may be there while its source is not.
    function tellSource() {
        const column = columns[columns.length - 1], silent = column && column.missing;
        const each = `a column every ${feed.period_us / 1e6} s`;
        state(silent ? "silent" : "connected", !column ? "waiting for the first picture" : silent ? "no picture from the source" : column.open ? `connected, ${each}` : "waiting for the next picture");
    }

    function state(word, text) {
        document.body.dataset.state = word;
        element("word").textContent = text || word;
    }

    // ---- the server

    const pause = ms => new Promise(done => setTimeout(done, ms));
    const hex = (bytes, at) => `#${[0, 1, 2].map(i => bytes[at + i].toString(16).padStart(2, "0")).join("")}`;

    async function ask(path) {
        const answer = await fetch(path, {signal: AbortSignal.timeout(30000)});
        if (!answer.ok) throw new Error(answer.statusText);
        return answer;
    }

    // Takes the records of /columns: samples/live/service.md.
    function take(buffer) {
        const view = new DataView(buffer), bytes = new Uint8Array(buffer), size = view.getUint32(8, true);
        const now = {height: view.getUint32(12, true), period_us: Number(view.getBigInt64(24, true))};
        // Numbers of another T mean other times.
        if (feed && (now.period_us !== feed.period_us || now.height !== feed.height)) {
            location.reload();
            return;
        }
        feed = now;
        for (let at = 32; at + size <= buffer.byteLength; at += size) {
            const flags = bytes[at + 16], missing = (flags & 1) !== 0;
            const column = {number: Number(view.getBigInt64(at, true)), time: Number(view.getBigInt64(at + 8, true)) / 1000, missing, open: (flags & 2) !== 0,
                average: missing ? null : hex(bytes, at + 17), dominant: missing ? null : hex(bytes, at + 20)};
            if (!(flags & 2)) last = column.number;
            add(column, bytes.subarray(at + 24, at + size));
        }
        tellSource();
        soon();
    }

    // Asks once a column, and once to five times a second.
    async function follow() {
        for (let connected = false; ; await pause(Math.min(1000, Math.max(200, feed ? feed.period_us / 1000 : 0)))) {
            try {
                if (!connected) document.title = element("name").textContent = await (await ask("title")).text();
                take(await (await ask(last === null ? "columns" : `columns?since=${last}`)).arrayBuffer());
                connected = true;
            } catch {
                connected = false;
                state("reconnecting");
            }
        }
    }

    // ---- hands

    track.addEventListener("pointermove", e => {
        const box = track.getBoundingClientRect();
        pointed = Math.max(0, Math.min(columns.length - 1, Math.floor((e.clientX - box.left) / scale())));
        soon();
    });
    track.addEventListener("pointerleave", () => { pointed = null; soon(); });
    scroller.addEventListener("scroll", () => {
        follows = Math.abs(scroller.scrollLeft - place()) < 2;
        soon();
    });
    element("now").addEventListener("click", () => { follows = true; soon(); });
    element("whole").addEventListener("click", () => {
        const on = document.body.classList.toggle("whole");
        element("whole").setAttribute("aria-pressed", String(on));
        follows = true;
        soon();
    });
    addEventListener("resize", soon);

    // For tests: what the page has.
    window.barcode = {count: () => columns.length, first: () => first, newest, column: n => columns[n - first]};
    follow();
})();
