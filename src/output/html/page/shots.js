// The page of a film whose shots were found: marks of the cuts above the strip, shot lengths and the
// cutting rate below it, and the current shot. It follows what viewer.js shows.
"use strict";

(() => {
    const {find, make, json, bytes, clock} = common;
    const FINE = 256;                      // parts of a column
    const AROUND = 4;                      // shots on each side of a moving median
    const KINDS = ["cut", "fade", "dissolve"];

    const facts = json("film");
    const words = (id) => new Uint32Array(bytes(find(id).textContent).buffer);
    const all = words("shots"), EACH = 7, frames = words("frames");
    const strip = find("strip"), count = all.length / EACH;
    // where each shot begins, in columns, and at the end where the last one ends
    const shots = Array.from({length: count}, (_, i) => {
        const [at, from, to, ms, frame, length, kind] = all.subarray(i * EACH, (i + 1) * EACH);
        const next = i + 1 < count ? all[(i + 1) * EACH + 3] : facts.shots_end;
        return {at: at / FINE, from: from / FINE, to: to / FINE, frame, frames: length, kind, seconds: Math.max(0.001, (next - ms) / 1000)};
    });
    const ends = (i) => (i + 1 < count ? shots[i + 1].at : facts.columns);

    function median(values) {
        const sorted = [...values].sort((a, b) => a - b), half = sorted.length >> 1;
        return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }

    // Returns shots per minute at each shot, by the median length of those around it.
    const rates = shots.map((_, i) => 60 / median(shots.slice(Math.max(0, i - AROUND), i + AROUND + 1).map((s) => s.seconds)));

    // ---- pictures: a unit is a column, so that a zoom is another viewBox

    const views = [];

    function picture(id, height, paths) {
        const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
        svg.id = id;
        svg.setAttribute("preserveAspectRatio", "none");
        svg.setAttribute("aria-hidden", "true");
        for (const [name, d] of paths) {
            const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
            path.setAttribute("class", name);
            path.setAttribute("d", d);
            svg.append(path);
        }
        views.push([svg, height]);
        return svg;
    }

    // Returns the marks of one kind: lines at cuts, areas over transitions.
    const marksOf = (kind) => shots.slice(1).filter((s) => s.kind === kind)
        .map((s) => (kind === 0 ? `M${s.at} 0V10` : `M${s.from} ${kind === 1 ? 6 : 0}H${s.to}V10H${s.from}Z`)).join("");

    const largest = (values) => values.reduce((a, b) => Math.max(a, b), 0);

    // Returns an area of steps, one a shot, and the line above it.
    function steps(values, height) {
        const most = largest(values), y = (v) => (height - (v * height) / most).toFixed(2);
        const line = values.map((v, i) => `${i ? "V" : `M${shots[0].at} `}${y(v)}H${ends(i)}`).join("");
        return [["area", `${line}V${height}H${shots[0].at}Z`], ["line", line]];
    }

    function chart(id, values, label) {
        const place = make("div", "chart");
        place.append(make("p", "", label), picture(id, 40, steps(values, 40)));
        return place;
    }

    // ---- what is said

    const number = (n) => (n < 10 ? n.toFixed(1) : Math.round(n).toLocaleString("en"));
    const lengths = shots.map((s) => s.seconds);

    function legend() {
        const kinds = new Set(shots.slice(1).map((s) => s.kind));
        const said = [kinds.has(0) ? "a line is a cut" : "", kinds.has(2) ? "a wide mark a dissolve" : "", kinds.has(1) ? "a low one a fade" : ""].filter(Boolean);
        return said.length ? `Above the strip: ${said.join(", ")}.` : "";
    }

    // Returns the shot of a frame.
    function shotOf(frame) {
        let low = 0, high = count;
        while (high - low > 1) {
            const middle = (low + high) >> 1;
            if (shots[middle].frame <= frame) low = middle;
            else high = middle;
        }
        return low;
    }

    function tell() {
        const at = Number(strip.getAttribute("aria-valuenow")), i = shotOf(frames[at]), s = shots[i];
        find("shot").textContent = `shot ${(i + 1).toLocaleString("en")} of ${count.toLocaleString("en")}, ${s.seconds.toFixed(2)} s${i > 0 && s.kind > 0 ? `, by a ${KINDS[s.kind]}` : ""}`;
        place(at);
    }

    // ---- what viewer.js shows: the strip's pictures have the zoom, and the slider the column

    const shown = find("pictures").firstElementChild;
    const view = () => {
        const span = (100 * facts.columns) / parseFloat(shown.style.width);
        return [(-parseFloat(shown.style.left) * span) / 100, span];
    };

    function place(at) {
        const [first, span] = view(), share = (at + 0.5 - first) / span, line = find("shot-at");
        line.style.left = `${100 * share}%`;
        line.hidden = share < 0 || share > 1;
    }

    function draw() {
        const [first, span] = view();
        for (const [svg, height] of views) svg.setAttribute("viewBox", `${first} 0 ${span} ${height}`);
        tell();
    }

    const pace = make("div"), here = make("div");
    pace.id = "pace";
    here.id = "shot-at";
    pace.append(chart("lengths", lengths, `Shot length, up to ${clock(largest(lengths), 1).replace(/^[0:]+(?=\d)/, "")} s`),
        chart("rates", rates, `Shots per minute, the median of ${2 * AROUND + 1} shots, up to ${number(largest(rates))}`), here);
    strip.before(picture("cuts", 10, KINDS.map((name, kind) => [name, marksOf(kind)])));
    find("overview").after(pace);
    find("hint").append(make("span", "", ` ${legend()}`));
    const said = make("p");
    said.id = "shot";
    find("which").after(said);
    if (facts.by_shot) {
        find("sub").textContent = find("sub").textContent.replace(/ · [\d,]+ columns?/, "");
        find("colours-title").textContent = find("colours-title").textContent.replace("frame", "shot");
    }
    find("sub").append(` \u00b7 ${count.toLocaleString("en")} ${count === 1 ? "shot" : "shots"}, median ${median(lengths).toFixed(1)} s`);
    new MutationObserver(draw).observe(shown, {attributeFilter: ["style"]});
    new MutationObserver(tell).observe(strip, {attributeFilter: ["aria-valuenow"]});
    draw();
})();
