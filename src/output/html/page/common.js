// Shared by both pages. Names of films are shown with textContent only and never parsed as markup.
"use strict";

const common = (() => {
    const find = (id) => document.getElementById(id);

    function make(tag, classes, text) {
        const element = document.createElement(tag);
        if (classes) element.className = classes;
        if (text !== undefined) element.textContent = text;
        return element;
    }

    const json = (id) => JSON.parse(find(id).textContent);

    function bytes(base64) {
        const text = atob(base64);
        const out = new Uint8Array(text.length);
        for (let i = 0; i < text.length; i++) out[i] = text.charCodeAt(i);
        return out;
    }

    // ---- time

    const two = (n) => String(n).padStart(2, "0");

    // Formats a time: "1:02:03", with `digits` decimals.
    function clock(seconds, digits = 0) {
        const unit = 10 ** digits;
        const all = Math.floor(seconds * unit + 1e-6);
        const whole = Math.floor(all / unit);
        const text = `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
        return digits ? `${text}.${String(all % unit).padStart(digits, "0")}` : text;
    }

    // Formats a duration: "1 h 32 min".
    function length(seconds) {
        const s = Math.round(seconds);
        if (s < 60) return `${s} s`;
        if (s < 3600) return `${Math.floor(s / 60)} min${s % 60 ? ` ${s % 60} s` : ""}`;
        const minutes = Math.round(s / 60);
        return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`;
    }

    // Returns what a film is called: its title, or else its file's name without the ending, without the
    // separators of a name that has no spaces, and without what follows a size such as 1080p.
    function called(title, name) {
        if (typeof title === "string" && title.trim()) return title.trim();
        const stem = name.replace(/(.)\.[^.\s]+$/, "$1");
        const words = /\s/.test(stem) ? stem : stem.replace(/[._]+/g, " ");
        return words.replace(/(\S)[\s[(]+\d{3,4}[ip]\b.*$/i, "$1").trim() || name;
    }

    // ---- colour

    const hex = (r, g, b) => "#" + ((1 << 24) | (r << 16) | (g << 8) | b).toString(16).slice(1);

    // Parses "#abc", "abc" or "#aabbcc" to [r, g, b]. Returns null if it is not a colour.
    function rgb(text) {
        const found = /^\s*#?([0-9a-f]{3}|[0-9a-f]{6})\s*$/i.exec(text);
        if (!found) return null;
        const digits = found[1].length === 3 ? found[1].replace(/./g, "$&$&") : found[1];
        const n = parseInt(digits, 16);
        return [n >> 16, (n >> 8) & 255, n & 255];
    }

    const linear = Float64Array.from({length: 256}, (_, i) => {
        const c = i / 255;
        return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });

    // Converts sRGB to OKLab (Ottosson 2020): lightness 0..1, then a and b. Perceptually uniform.
    function oklab(r8, g8, b8) {
        const r = linear[r8], g = linear[g8], b = linear[b8];
        const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
        const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
        const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
        return [
            0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
            1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
            0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s,
        ];
    }

    const percent = (share) => {
        const value = 100 * share;
        return `${value >= 99.95 || value === 0 ? Math.round(value) : value < 0.1 ? "<0.1" : value.toFixed(1)} %`;
    };

    // ---- choices

    // What a browser keeps of the page's choices. Some keep nothing for a page from a disk.
    function recall(key) {
        try { return localStorage.getItem(`barcode-${key}`); } catch { return null; }
    }

    function remember(key, value) {
        try { localStorage.setItem(`barcode-${key}`, value); } catch { /* until the page is closed */ }
    }

    // Fills a fieldset with one radio button per option, [value, text, tip]. Without a text the tip is
    // the name.
    function choice(id, options, chosen, act) {
        for (const [value, text, tip] of options) {
            const label = make("label"), input = make("input");
            Object.assign(input, {type: "radio", name: id, value, checked: value === chosen});
            if (tip) label.title = tip;
            if (!text) input.setAttribute("aria-label", tip);
            input.addEventListener("change", () => act(value));
            label.append(input, make("span", "", text));
            find(id).append(label);
        }
    }

    function setGround(value) {
        document.documentElement.dataset.ground = value;
        remember("ground", value);
    }

    const grounds = [["white", "", "White background"], ["grey", "", "Mid-grey background, for judging colours"], ["black", "", "Black background"]];
    const ground = grounds.some(([value]) => value === recall("ground")) ? recall("ground") : "grey";
    document.documentElement.dataset.ground = ground;
    choice("ground", grounds, ground, setGround);

    // ---- status messages, clipboard

    let clearing = 0;
    function tell(text) {
        const place = find("told");
        place.textContent = text;
        clearTimeout(clearing);
        clearing = setTimeout(() => { place.textContent = ""; }, 2500);
    }

    // Copies without the Clipboard API, which pages from a disk may not use.
    function copyBySelection(text) {
        const field = make("textarea", "unseen");
        const before = document.activeElement;
        field.value = text;
        field.setAttribute("aria-hidden", "true");
        document.body.append(field);
        field.select();
        let done = false;
        try { done = document.execCommand("copy"); } catch { done = false; }
        field.remove();
        if (before) before.focus({preventScroll: true});
        return done;
    }

    async function copy(text) {
        let done = false;
        try {
            await navigator.clipboard.writeText(text);
            done = true;
        } catch {
            done = copyBySelection(text);
        }
        tell(done ? `${text} copied` : `${text} could not be copied`);
    }

    // Returns a button that copies its colour. show() sets or replaces the colour.
    function swatch() {
        const button = make("button", "swatch");
        button.type = "button";
        button.append(make("span", "chip"), make("span", "hex"), make("span", "share"));
        button.addEventListener("click", () => copy(button.dataset.hex));
        return button;
    }

    function show(button, colour, share, word) {
        const [chip, name, part] = button.children;
        const text = share === null ? word || "" : percent(share);
        chip.style.backgroundColor = colour;
        name.textContent = colour;
        part.textContent = text;
        button.dataset.hex = colour;
        button.setAttribute("aria-label", `Copy ${colour}${text ? `, ${text}` : ""}`);
    }

    // Fills a bar with colours, as wide as their shares: [[hex, share]...].
    function fillBar(bar, colours) {
        while (bar.children.length < colours.length) bar.append(make("span"));
        while (bar.children.length > colours.length) bar.lastChild.remove();
        colours.forEach(([colour, share], i) => {
            bar.children[i].style.backgroundColor = colour;
            bar.children[i].style.flexGrow = share;
            bar.children[i].dataset.hex = colour;
        });
    }

    return {find, make, json, bytes, clock, length, called, choice, recall, remember, hex, rgb, oklab, percent, tell, copy, swatch, show, fillBar};
})();
