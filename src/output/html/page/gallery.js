// The gallery: all films, sorted; or the films that have a colour, and where they have it.
"use strict";

(() => {
    const {find, make, json, bytes, clock, length, called, hex, rgb, oklab, fillBar} = common;
    const NEAR = 0.1;                      // largest OKLab distance of similar colours
    const MOMENTS = 6;                     // maximum number of moments shown per film
    const NEAREST = 12;                    // films shown if none has a similar colour

    // Returns a card without its invalid parts: it may be of another version.
    function sound(card) {
        const palette = Array.isArray(card.palette) ? card.palette.filter((c) => Array.isArray(c) && rgb(String(c[0])) && c[1] > 0) : [];
        const {colours, times} = card.moments || {};
        const whole = typeof colours === "string" && Array.isArray(times) && times.every(Number.isFinite);
        let data = new Uint8Array();
        try { data = whole ? bytes(colours) : data; } catch { /* invalid base64 */ }
        const file = typeof card.name === "string" ? card.name : card.page;
        return {page: card.page, file, name: called(card.title, file), length: Number.isFinite(card.length) ? card.length : -1, palette,
                strip: typeof card.strip === "string" ? card.strip : "", moments: {data, times: whole && data.length % 4 === 0 && times.length && data.length % (4 * times.length) === 0 ? times : []}};
    }

    const films = json("cards").map(sound).map((card) => ({card, name: card.name, searched: `${card.name} ${card.file}`.toLocaleLowerCase(), length: card.length, item: null, moments: null}));
    // Films of the same title get their files' names, too.
    const titles = new Map();
    for (const film of films) titles.set(film.name, (titles.get(film.name) || 0) + 1);
    for (const film of films) if (titles.get(film.name) > 1 && film.name !== called("", film.card.file)) film.name += ` (${called("", film.card.file)})`;
    const state = {text: "", sort: "name", turned: false, colour: null};

    // ---- sort order

    const byName = new Intl.Collator("en", {numeric: true, sensitivity: "base"});

    // Sets the lightness and hue of a film: the mean of its palette, weighted by share.
    function measure(film) {
        let all = 0, light = 0, a = 0, b = 0;
        for (const [colour, share] of film.card.palette) {
            const lab = oklab(...rgb(colour));
            all += share;
            light += share * lab[0];
            a += share * lab[1];
            b += share * lab[2];
        }
        film.light = all ? light / all : 0;
        const chroma = all ? Math.hypot(a, b) / all : 0;
        // red first, greys last
        film.hue = chroma < 0.008 ? Infinity : (Math.atan2(b, a) * 180 / Math.PI + 360 - 20) % 360;
    }

    const ORDER = {
        name: (x, y) => byName.compare(x.name, y.name) || byName.compare(x.card.page, y.card.page),
        length: (x, y) => x.length - y.length,
        light: (x, y) => x.light - y.light,
        hue: (x, y) => (x.hue === y.hue ? x.light - y.light : x.hue - y.hue),
    };

    // ---- search by colour

    // Returns the moments of a film in OKLab, computed once.
    function momentsOf(film) {
        if (film.moments) return film.moments;
        const {data, times} = film.card.moments;
        const each = times.length ? data.length / times.length / 4 : 0;
        const lab = new Float32Array(3 * each * times.length);
        for (let i = 0; i < each * times.length; i++) lab.set(oklab(data[4 * i], data[4 * i + 1], data[4 * i + 2]), 3 * i);
        film.moments = {data, lab, each, times};
        return film.moments;
    }

    // Returns the nearest moments that are at least `apart` seconds apart, in order of time.
    function spread(list, apart) {
        const kept = [];
        for (const moment of list.sort((x, y) => x.distance - y.distance || x.time - y.time))
            if (kept.length < MOMENTS && kept.every((other) => Math.abs(other.time - moment.time) >= apart)) kept.push(moment);
        return kept.sort((x, y) => x.time - y.time);
    }

    // Returns how much of the film is near a colour, and where:
    // {score, nearest, list: [{time, colour, distance}...]}.
    function search(film, target) {
        const {data, lab, each, times} = momentsOf(film);
        const found = {score: 0, nearest: Infinity, list: []};
        for (let t = 0; t < times.length; t++) {
            let best = Infinity, at = 0;
            for (let i = t * each; i < (t + 1) * each; i++) {
                const share = data[4 * i + 3];
                if (share < 10) continue;                     // below 4 % of the frame: hardly visible
                const distance = Math.hypot(lab[3 * i] - target[0], lab[3 * i + 1] - target[1], lab[3 * i + 2] - target[2]);
                if (distance < NEAR) found.score += share * (1 - distance / NEAR);
                if (distance < best) { best = distance; at = i; }
            }
            if (best < NEAR) found.list.push({time: times[t], colour: hex(data[4 * at], data[4 * at + 1], data[4 * at + 2]), distance: best});
            found.nearest = Math.min(found.nearest, best);
        }
        found.list = spread(found.list, Math.max(3, film.length / 40));
        return found;
    }

    // ---- display

    const back = (page) => "../".repeat(page.split("/").length - 1) + "index.html";
    const address = (card, time) => `${card.page}#${time === undefined ? "" : `t=${time}&`}from=${back(card.page)}`;

    function itemOf(film) {
        if (film.item) return film.item;
        const {card} = film;
        const item = make("li"), link = make("a", "film"), strip = make("img"), bar = make("div", "bar"), line = make("div", "line");
        link.href = address(card);
        link.title = film.name === card.file ? card.file : `${film.name} (${card.file})`;
        strip.alt = "";
        strip.decoding = "async";
        if (card.strip) strip.src = `data:image/png;base64,${card.strip}`;
        bar.setAttribute("aria-hidden", "true");
        fillBar(bar, card.palette);
        line.append(make("span", "name", film.name), make("span", "length", film.length < 0 ? "" : length(film.length)));
        link.append(strip, bar, line);
        item.append(link);
        film.item = item;
        return item;
    }

    function showMoments(film, list) {
        const item = itemOf(film);
        if (item.children.length > 1) item.lastChild.remove();
        if (!list || !list.length) return item;
        const moments = make("div", "moments");
        for (const moment of list) {
            const link = make("a"), chip = make("span", "chip");
            const time = clock(moment.time);
            chip.style.backgroundColor = moment.colour;
            link.href = address(film.card, moment.time);
            link.setAttribute("aria-label", `${film.name} at ${time}, ${moment.colour}`);
            link.append(chip, document.createTextNode(time));
            moments.append(link);
        }
        item.append(moments);
        return item;
    }

    const some = (n) => `${n.toLocaleString("en")} ${n === 1 ? "film" : "films"}`;

    function list() {
        const words = state.text.toLocaleLowerCase().split(/\s+/).filter(Boolean);
        const named = films.filter((film) => words.every((word) => film.searched.includes(word)));
        const of = named.length < films.length ? ` of ${some(films.length)}` : "";
        if (!state.colour) {
            const sorted = named.sort((x, y) => ORDER[state.sort](x, y) || ORDER.name(x, y));
            if (state.turned) sorted.reverse();
            return {shown: sorted.map((film) => showMoments(film, null)), told: named.length || !films.length ? `${some(named.length)}${of}` : `No film has this title${of}`};
        }
        const target = oklab(...state.colour);
        const found = named.map((film) => ({film, ...search(film, target)}));
        const near = found.filter((one) => one.score > 0).sort((x, y) => y.score - x.score);
        if (near.length)
            return {shown: near.map((one) => showMoments(one.film, one.list)), told: `${some(near.length)}${named.length > near.length ? ` of ${named.length.toLocaleString("en")}` : ""} with this colour, most of it first`};
        const nearest = found.sort((x, y) => x.nearest - y.nearest).slice(0, NEAREST);
        return {shown: nearest.map((one) => showMoments(one.film, null)), told: "No film has this colour. These come nearest:"};
    }

    function keepAddress() {
        const hash = new URLSearchParams();
        if (state.text) hash.set("name", state.text);
        if (state.sort !== "name") hash.set("sort", state.sort);
        if (state.turned) hash.set("turned", "1");
        if (state.colour) hash.set("colour", hex(...state.colour).slice(1));
        try { history.replaceState(null, "", `#${hash}`); } catch { /* not every browser permits it */ }
    }

    function draw() {
        const {shown, told} = list();
        find("films").replaceChildren(...shown);
        find("sub").textContent = told;
        find("clear").disabled = !state.colour;
        find("sort").disabled = find("turn").disabled = Boolean(state.colour);
        find("turn").setAttribute("aria-pressed", String(state.turned));
        keepAddress();
    }

    let pending = 0;
    function soon() {
        if (!pending) pending = requestAnimationFrame(() => { pending = 0; draw(); });
    }

    function set(colour) {
        state.colour = colour;
        if (colour) find("colour").value = hex(...colour);
        soon();
    }

    find("search").addEventListener("submit", (event) => event.preventDefault());
    find("text").addEventListener("input", () => { state.text = find("text").value; soon(); });
    find("sort").addEventListener("change", () => { state.sort = find("sort").value; soon(); });
    find("turn").addEventListener("click", () => { state.turned = !state.turned; soon(); });
    find("colour").addEventListener("input", () => { find("hex").value = find("colour").value; set(rgb(find("colour").value)); });
    find("hex").addEventListener("input", () => {
        const colour = rgb(find("hex").value);
        find("hex").setAttribute("aria-invalid", String(!colour && find("hex").value.trim() !== ""));
        set(colour);
    });
    find("clear").addEventListener("click", () => { find("hex").value = ""; set(null); find("hex").focus(); });

    function fromAddress() {
        const hash = new URLSearchParams(location.hash.slice(1));
        state.text = find("text").value = hash.get("name") || "";
        state.sort = ORDER[hash.get("sort")] ? hash.get("sort") : "name";
        state.turned = hash.get("turned") === "1";
        state.colour = rgb(hash.get("colour") || "");
        find("sort").value = state.sort;
        if (state.colour) find("hex").value = find("colour").value = hex(...state.colour);
        draw();
    }

    function setView(value) {
        find("films").classList.toggle("list", value === "list");
        common.remember("view", value);
    }

    const chosen = common.recall("view") === "list" ? "list" : "cards";
    common.choice("view", [["cards", "Cards"], ["list", "List"]], chosen, setView);
    setView(chosen);
    films.forEach(measure);
    fromAddress();
    addEventListener("hashchange", fromAddress);
})();
