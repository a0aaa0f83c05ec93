// The page of a film: the position, the colours there, and the zoom.
"use strict";

(() => {
    const {find, make, json, bytes, clock, hex, percent, swatch, show, fillBar} = common;
    const LEAST = 8;                       // columns at the maximum zoom
    // What visitors call the modes, and what they are. -m has the names on the left.
    const MODES = {
        kmeans: ["Main colour", "The largest group of similar colours in each frame"],
        dominant: ["Most frequent colour", "The colour that most of each frame comes near to, as the eye sees it"],
        palette: ["Palette", "The groups of similar colours in each frame, each as high as its share"],
        average: ["Average", "The mean of each frame"],
        squeeze: ["Squeezed frame", "Each frame, squeezed to the width of a column: what is on top stays on top"],
        sound: ["Sound", "How loud the film is"],
        spectrum: ["Spectrum", "The frequencies of the sound, high ones at the top"],
        slit: ["Slit", "A line through each frame, a column for each"],
    };
    const MISSING = 0, DAMAGED = 2, UNKNOWN = 0xffffffff;

    const facts = json("film");
    const count = facts.columns;
    const words = (id) => new Uint32Array(bytes(find(id).textContent).buffer);
    const times = words("times"), frames = words("frames");
    const states = bytes(find("states").textContent);         // status, number of clusters, chosen cluster
    const means = bytes(find("means").textContent);           // mean, then the dominant colour if present
    const clusters = bytes(find("clusters").textContent);     // colour, share
    const meansEach = facts.dominant ? 6 : 3, clustersEach = facts.clusters * 5;

    const strip = find("strip"), cursor = find("cursor"), range = find("range");
    const pictures = [...find("pictures").children];
    // The sound is always below the colours.
    const isSound = (picture) => facts.modes.some((m) => m.sound && m.name === picture.dataset.mode);
    const colours = facts.modes.filter((m) => !m.sound), sounds = facts.modes.filter((m) => m.sound);
    const levels = facts.sound ? new Int16Array(bytes(find("sound").textContent).buffer) : null;  // loudness, peak, centroid
    const view = {first: 0, span: count};  // visible columns
    let at = 0;                            // current column
    let held = false;                      // true: the pointer does not move `at`
    const called = common.called(facts.film.title, facts.film.name);
    const saved = saver(called, facts.palette);
    const pictured = sheets(facts, states, means, () => digits());

    // ---- columns

    // Interpolates the times of columns that were never filled.
    function fillTimes() {
        for (let i = 0; i < count; i++) {
            if (times[i] !== UNKNOWN) continue;
            let next = i;
            while (next < count && times[next] === UNKNOWN) next++;
            const before = i > 0 ? times[i - 1] : 0;
            const after = next < count ? times[next] : before + (next - i) * 1000;
            for (const first = i; i < next; i++) times[i] = before + ((after - before) * (i - first + 1)) / (next - first + 1);
        }
    }

    const seconds = (i) => times[i] / 1000;

    // Returns the first column at or after a time, or `count` if there is none.
    function columnAt(ms) {
        let low = 0, high = count;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (times[middle] < ms) low = middle + 1;
            else high = middle;
        }
        return low;
    }

    // Returns the column that is displayed at a time.
    const columnOn = (ms) => Math.max(0, Math.min(count - 1, columnAt(ms + 1) - 1));

    // Returns the clusters of a column, largest first: [[hex, share]...].
    function coloursOf(i) {
        const list = [];
        for (let k = 0, p = i * clustersEach; k < states[3 * i + 1]; k++, p += 5)
            list.push([hex(clusters[p], clusters[p + 1], clusters[p + 2]), (clusters[p + 3] | (clusters[p + 4] << 8)) / 65535]);
        return list;
    }

    const meanOf = (i) => hex(means[i * meansEach], means[i * meansEach + 1], means[i * meansEach + 2]);
    const others = (i) => [...(facts.dominant ? [["dominant", dominantOf(i)]] : []), ["average", meanOf(i)]];
    const dominantOf = (i) => hex(means[i * meansEach + 3], means[i * meansEach + 4], means[i * meansEach + 5]);

    // ---- the current column

    const digits = () => (count > 1 && (times[count - 1] - times[0]) / (count - 1) < 1000 ? 2 : 0);
    const rows = [];                       // buttons of the frame's colours, created once

    function rowFor(n) {
        while (rows.length <= n) {
            const button = swatch();
            const item = make("li");
            item.append(button);
            find("colours").append(item);
            rows.push(button);
        }
        return rows[n];
    }

    // Marks the cluster that the strip shows: with --steady it need not be the largest.
    function mark(button, chosen) {
        button.classList.toggle("chosen", chosen);
        if (chosen) button.setAttribute("aria-label", `${button.getAttribute("aria-label")}, which the strip shows`);
        button.title = chosen ? "The strip shows this one" : "";
    }

    function tellColours(i, missing) {
        const list = missing ? [] : coloursOf(i);
        let used = 0;
        for (const [colour, share] of list) {
            const button = rowFor(used);
            show(button, colour, share);
            mark(button, facts.run.steady > 0 && used === states[3 * i + 2]);
            used++;
        }
        for (const [word, colour] of missing ? [] : others(i)) {
            show(rowFor(used), colour, null, word);
            mark(rowFor(used++), false);
        }
        rows.forEach((button, n) => { button.parentNode.hidden = n >= used; });
        fillBar(find("bar"), list.length ? list : missing ? [] : [[facts.dominant ? dominantOf(i) : meanOf(i), 1]]);
        return list;
    }

    function tellState(i) {
        const status = states[3 * i], place = find("state");
        place.hidden = status !== MISSING && status !== DAMAGED;
        place.textContent = status === MISSING ? "No picture came from the film here: the strip repeats its neighbour."
            : status === DAMAGED ? "The film is damaged here." : "";
        find("bar").classList.toggle("none", status === MISSING);
    }

    // Returns loudness, peak and centroid at column i, for display.
    function soundAt(i) {
        const [loudness, peak] = [levels[3 * i] / 10, levels[3 * i + 1] / 10], centroid = levels[3 * i + 2] & 0xffff;
        const number = (n) => n.toFixed(1).replace("-", "\u2212");
        return loudness <= -70 ? "silence" : `${number(loudness)} LUFS, peak ${number(peak)} dB${centroid ? `, centre ${centroid.toLocaleString("en")} Hz` : ""}`;
    }

    function tell(i) {
        const missing = states[3 * i] === MISSING;
        const time = clock(seconds(i), digits());
        const list = tellColours(i, missing);
        find("time").textContent = time;
        find("which").textContent = `${frames[i] === UNKNOWN ? "" : `frame ${frames[i].toLocaleString("en")}, `}column ${(i + 1).toLocaleString("en")} of ${count.toLocaleString("en")}${held ? ", held" : ""}`;
        find("loudness").textContent = levels ? soundAt(i) : "";
        tellState(i);
        find("flag").textContent = time;
        strip.setAttribute("aria-valuenow", String(i));
        strip.setAttribute("aria-valuetext", `${time}${missing ? ", no picture" : list.length ? `, ${list[0][0]} ${percent(list[0][1])}` : `, ${meanOf(i)}`}`);
        pictured.draw(i);
    }

    function placeCursor() {
        const share = (at + 0.5 - view.first) / view.span;
        cursor.style.left = `${100 * share}%`;
        cursor.hidden = share < 0 || share > 1;
        strip.classList.toggle("flip", share > 0.8);
    }

    let pending = 0;
    function go(i) {
        at = Math.max(0, Math.min(count - 1, i));
        if (!pending) pending = requestAnimationFrame(() => { pending = 0; placeCursor(); tell(at); });
    }

    function hold(on) {
        held = on;
        strip.classList.toggle("held", on);
        if (on) {
            const hash = new URLSearchParams(location.hash.slice(1));
            hash.set("t", seconds(at).toFixed(3).replace(/\.?0+$/, ""));
            try { history.replaceState(null, "", `#${hash}`); } catch { /* browsers may refuse it for a page from a disk */ }
        }
        go(at);
    }

    // ---- zoom

    // steps of the axis, in seconds
    const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 36000];

    function drawAxis() {
        const axis = find("axis");
        const last = Math.min(count, view.first + view.span) - 1;
        const from = seconds(Math.max(0, Math.floor(view.first))), to = seconds(Math.max(0, Math.ceil(last)));
        const most = Math.max(2, Math.floor(axis.clientWidth / 96));
        const step = STEPS.find((s) => (to - from) / s <= most) || STEPS[STEPS.length - 1];
        const labels = [];
        for (let n = Math.ceil(from / step - 1e-6); n * step <= to && labels.length < 200; n++) {
            const column = columnAt(n * step * 1000);
            const share = (column - view.first) / view.span;
            if (share < 0 || share > 0.97) continue;
            const label = make("span", "", clock(n * step, step < 1 ? 1 : 0));
            label.style.left = `${100 * share}%`;
            labels.push(label);
        }
        axis.replaceChildren(...labels);
    }

    function drawFaults() {
        const canvas = find("faults");
        const width = strip.clientWidth;
        let any = false;
        canvas.width = width;
        canvas.height = 8;
        const pen = canvas.getContext("2d"), each = width / view.span;
        // black below the marks, so that they are visible on any colour
        for (const [status, colour, top, wider] of [[DAMAGED, "#000", 0, 1], [MISSING, "#000", 0, 1], [DAMAGED, "#ffc83d", 2, 0], [MISSING, "#ff5a4f", 2, 0]]) {
            pen.fillStyle = colour;
            for (let i = Math.floor(view.first); i < Math.min(count, view.first + view.span); i++) {
                if (states[3 * i] !== status) continue;
                const left = Math.round((i - view.first) * each), right = Math.round((i + 1 - view.first) * each);
                pen.fillRect(left - wider, top, Math.max(2, right - left) + 2 * wider, 8 - top);
                any = true;
            }
        }
        canvas.hidden = !any;
    }

    function drawView() {
        for (const picture of pictures) {
            picture.style.width = `${(100 * count) / view.span}%`;
            picture.style.left = `${(-100 * view.first) / view.span}%`;
        }
        find("pictures").classList.toggle("fine", view.span > strip.clientWidth * devicePixelRatio);
        const zoomed = view.span < count;
        const pane = find("window");
        pane.style.left = `${(100 * view.first) / count}%`;
        pane.style.width = `${(100 * view.span) / count}%`;
        find("overview").hidden = !zoomed;
        find("out").disabled = find("whole").disabled = !zoomed;
        find("in").disabled = view.span <= Math.min(LEAST, count);
        drawAxis();
        drawFaults();
        placeCursor();
    }

    function look(first, span) {
        view.span = Math.max(Math.min(LEAST, count), Math.min(count, span));
        view.first = Math.max(0, Math.min(count - view.span, first));
        drawView();
    }

    function zoom(factor, middle = at + 0.5) {
        const share = (middle - view.first) / view.span;
        const span = Math.max(Math.min(LEAST, count), view.span / factor);
        look(middle - (share >= 0 && share <= 1 ? share : 0.5) * span, span);
    }

    // Announces the visible range for screen readers.
    function sayRange() {
        const last = Math.min(count, Math.ceil(view.first + view.span)) - 1;
        common.tell(view.span < count ? `${clock(seconds(Math.floor(view.first)), digits())} to ${clock(seconds(last), digits())}` : "All of it");
    }

    function step(factor) {
        zoom(factor);
        sayRange();
    }

    function whole() {
        const zoomed = view.span < count;
        look(0, count);
        if (zoomed) sayRange();
    }

    function keepInView() {
        if (at < view.first) look(at, view.span);
        else if (at >= view.first + view.span) look(at + 1 - view.span, view.span);
    }

    // ---- pointer and keys

    const drag = {pointer: null, from: 0, moved: false, mouse: false};
    const fingers = new Map();             // x by pointer id, of touches on the strip
    let pinch = 0;                         // previous distance of two touches

    const shareAt = (x) => { const box = strip.getBoundingClientRect(); return Math.max(0, Math.min(1, (x - box.left) / box.width)); };
    const columnUnder = (x) => Math.min(count - 1, Math.floor(view.first + shareAt(x) * view.span));

    function endDrag() {
        drag.pointer = null;
        range.hidden = true;
    }

    function showRange(x) {
        const a = shareAt(drag.from), b = shareAt(x);
        range.hidden = false;
        range.style.left = `${100 * Math.min(a, b)}%`;
        range.style.width = `${100 * Math.abs(a - b)}%`;
    }

    function moveFingers() {
        const [a, b] = [...fingers.values()];
        const apart = Math.abs(a - b), middle = view.first + shareAt((a + b) / 2) * view.span;
        if (pinch > 20 && apart > 20) zoom(apart / pinch, middle);
        pinch = apart;
    }

    strip.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        Object.assign(drag, {pointer: event.pointerId, from: event.clientX, moved: false, mouse: event.pointerType === "mouse"});
        strip.setPointerCapture(event.pointerId);
        if (drag.mouse) return;
        fingers.set(event.pointerId, event.clientX);
        pinch = 0;
        held = false;
        go(columnUnder(event.clientX));
    });

    strip.addEventListener("pointermove", (event) => {
        if (fingers.has(event.pointerId)) fingers.set(event.pointerId, event.clientX);
        if (fingers.size > 1) { moveFingers(); return; }
        if (drag.pointer === event.pointerId && drag.mouse) {
            drag.moved = drag.moved || Math.abs(event.clientX - drag.from) > 4;
            if (drag.moved) showRange(event.clientX);
        }
        if (!held || drag.moved) go(columnUnder(event.clientX));
    });

    strip.addEventListener("pointerup", (event) => {
        fingers.delete(event.pointerId);
        if (drag.pointer !== event.pointerId) return;
        const mouse = drag.mouse, moved = drag.moved;
        endDrag();
        if (!mouse) return;
        if (!moved) {
            go(columnUnder(event.clientX));
            hold(!held);
            return;
        }
        const a = view.first + shareAt(Math.min(drag.from, event.clientX)) * view.span;
        const b = view.first + shareAt(Math.max(drag.from, event.clientX)) * view.span;
        look(Math.floor(a), Math.max(LEAST, Math.ceil(b) - Math.floor(a)));
        sayRange();
    });

    strip.addEventListener("pointercancel", (event) => {
        fingers.delete(event.pointerId);
        if (drag.pointer === event.pointerId) endDrag();
    });

    strip.addEventListener("dblclick", whole);

    const KEYS = {
        ArrowLeft: (n) => at - n, ArrowDown: (n) => at - n, ArrowRight: (n) => at + n, ArrowUp: (n) => at + n,
        PageUp: () => at + Math.max(1, Math.round(view.span / 10)), PageDown: () => at - Math.max(1, Math.round(view.span / 10)),
        Home: () => (at === Math.floor(view.first) ? 0 : Math.floor(view.first)),
        End: () => { const last = Math.min(count, Math.floor(view.first + view.span)) - 1; return at === last ? count - 1 : last; },
    };

    // Without a focus, the keys that do nothing else are the strip's too.
    document.addEventListener("keydown", (event) => {
        const free = event.target === document.body && /^(ArrowLeft|ArrowRight|[-+=])$/.test(event.key);
        if (event.ctrlKey || event.altKey || event.metaKey || !(event.target === strip || free)) return;
        if (KEYS[event.key]) {
            go(KEYS[event.key](event.shiftKey ? 10 : 1));
            keepInView();
        } else if (event.key === "+" || event.key === "=") {
            step(2);
        } else if (event.key === "-") {
            step(0.5);
        } else if (event.key === "Enter" || event.key === " ") {
            hold(!held);
        } else {
            return;
        }
        event.preventDefault();
    });

    document.addEventListener("keydown", (event) => {
        if (event.key !== "Escape") return;
        if (drag.pointer !== null && drag.moved) endDrag();
        else if (view.span < count) whole();
        else if (held) hold(false);
    });

    for (const bar of [find("bar"), find("film-bar")]) bar.addEventListener("click", (event) => { if (event.target.dataset.hex) common.copy(event.target.dataset.hex); });

    find("in").addEventListener("click", () => step(2));
    find("out").addEventListener("click", () => step(0.5));
    find("whole").addEventListener("click", whole);
    find("save").addEventListener("click", () => {
        const first = Math.floor(view.first);
        saved.strip(pictures.filter((picture) => !picture.hidden).sort((a, b) => isSound(a) - isSound(b)), count, first, Math.min(count, Math.ceil(view.first + view.span)) - first);
    });

    find("overview").addEventListener("pointerdown", (event) => {
        const overview = find("overview"), box = overview.getBoundingClientRect();
        const move = (e) => look(((e.clientX - box.left) / box.width) * count - view.span / 2, view.span);
        overview.setPointerCapture(event.pointerId);
        overview.onpointermove = move;
        overview.onpointerup = overview.onpointercancel = () => { overview.onpointermove = null; };
        move(event);
    });

    // ---- set-up

    const namesOf = (mode) => MODES[mode.name] || [mode.title, mode.note];
    const noteOf = (mode) => [`${namesOf(mode)[1]}. `, make("code", "", `-m ${mode.name}`), `: ${mode.note}`];

    function chooseMode(name) {
        for (const picture of pictures) picture.hidden = picture.dataset.mode !== name && !isSound(picture);
        find("overview").firstElementChild.src = pictures.find((p) => p.dataset.mode === name).src;
        const mode = facts.modes.find((m) => m.name === name);
        find("note").replaceChildren(...noteOf(mode));
    }

    // Places the strips of sound below the colours, and says what they are.
    function placeSounds() {
        find("strip").classList.toggle("sounding", sounds.length > 0);
        for (const picture of pictures) {
            const track = sounds.findIndex((m) => m.name === picture.dataset.mode);
            if (track < 0) continue;
            picture.className = "track";
            picture.style.setProperty("--track", String(sounds.length - 1 - track));
        }
        find("pictures").style.setProperty("--tracks", String(sounds.length));
        for (const mode of sounds) {
            const line = make("p");
            line.append(`${namesOf(mode)[0]}: `, ...noteOf(mode));
            find("sounds").append(line);
        }
    }

    function listModes() {
        common.choice("modes", colours.map((mode) => [mode.name, ...namesOf(mode)]), colours[0].name, chooseMode);
        chooseMode(colours[0].name);
    }

    function listPalette() {
        const all = facts.palette.reduce((sum, [, share]) => sum + share, 0);
        fillBar(find("film-bar"), facts.palette);
        for (const [colour, share] of facts.palette) {
            const button = swatch(), item = make("li");
            show(button, colour, share / all);
            item.append(button);
            find("palette").append(item);
        }
    }

    const rate = (film) => (film.rate ? `${Number(film.rate.toFixed(3))} fps` : "");
    const plural = (n, one, many) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

    function listFacts() {
        const {film, run} = facts;
        const colour = `${film.matrix}, ${film.range} range${film.transfer === "sdr" ? "" : `, ${film.transfer.toUpperCase()}`}`;
        const hdr = run.tone_map ? `${run.tone_map}${run.hdr_peak ? `, from ${run.hdr_peak} cd/m²` : ""}` : "";
        const lines = [
            ["Film", film.name], ["Length", film.length === null ? "" : clock(film.length, 3)],
            ["Picture", `${film.width} × ${film.height}${film.rate ? `, ${rate(film)}` : ""}`], ["Container, codec", `${film.container}, ${film.codec}, ${film.pixel_format}`],
            ["Colour", colour], ["Without black bars", film.crop], ["Film's id", film.id],
            ["Frames taken", run.selection], ["Columns", facts.film_columns === count ? plural(count, "column", "columns") : `${plural(facts.film_columns, "column", "columns")}, of which ${count.toLocaleString("en")} are shown here`],
            ["Without a picture", facts.missing ? plural(facts.missing, "column", "columns") : ""], ["Lost by the film", facts.lost ? plural(facts.lost, "picture", "pictures") : ""],
            ["Analysed at", `${run.width} × ${run.height}`],
            ["Clusters", run.clustered ? `${run.k} per frame${facts.clusters < run.k ? `, of which the ${facts.clusters} largest are shown here` : ""}; ${run.init}, ${run.n_init} restarts${run.race ? " in a race" : ""}, seed ${run.seed}` : ""],
            ["Sound", levels ? `${facts.sound.codec}, ${facts.sound.layout}${facts.sound.loudness === null ? "" : `, ${facts.sound.loudness.toFixed(1)} LUFS`}, range ${facts.sound.range.toFixed(1)} LU, peak ${facts.sound.peak.toFixed(1)} dB` : ""],
            ["Steady", run.steady ? `${run.steady} %` : ""], ["Tone mapping", hdr], ["Means", run.linear ? "of light" : ""],
            ["Options", run.fingerprint], ["Made by", `barcode ${run.version}`],
        ];
        for (const [name, value] of lines) if (value) find("list").append(make("dt", "", name), make("dd", "", value));
    }

    // Returns which part of the film the picture shows, or "" for all of it.
    function part() {
        const {start, end} = facts.run;
        if (end === null) return start ? `from ${clock(start)} on` : "";
        return `${clock(start)} to ${clock(end)} only`;
    }

    function head() {
        const {film} = facts;
        const damaged = states.filter((s, i) => i % 3 === 0 && s === DAMAGED).length;
        const parts = [film.length === null ? "" : common.length(film.length), part(), `${film.width} × ${film.height}`, rate(film), plural(facts.film_columns, "column", "columns"),
            facts.missing ? `${facts.missing.toLocaleString("en")} without a picture` : "", damaged ? `${damaged.toLocaleString("en")} damaged` : ""];
        find("name").textContent = called;
        find("sub").textContent = parts.filter(Boolean).join(" · ");
        document.title = `${called} – barcode`;
        if (facts.modes.some((m) => m.name === "kmeans" || m.name === "palette") === false) find("colours-title").textContent = "Colour of this frame";
    }

    // Reads the URL: #t=SECONDS is a position; from=../index.html is the gallery to go back to.
    function fromAddress() {
        const hash = new URLSearchParams(location.hash.slice(1));
        const t = parseFloat(hash.get("t")), from = hash.get("from");
        if (from && /^(\.\.\/)*index\.html$/.test(from)) {
            find("back").href = from;
            find("back").hidden = false;
        }
        if (!Number.isFinite(t)) return false;
        at = columnOn(t * 1000);
        held = true;
        strip.classList.add("held");
        keepInView();
        go(at);
        return true;
    }

    fillTimes();
    strip.setAttribute("aria-valuemax", String(count - 1));
    head();
    listModes();
    placeSounds();
    listPalette();
    listFacts();
    drawView();
    if (!fromAddress()) go(Math.floor(count / 2));
    addEventListener("hashchange", fromAddress);
    new ResizeObserver(drawView).observe(strip);
})();
