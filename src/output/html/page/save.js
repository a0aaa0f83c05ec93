// The page of a film: saves its strip and its palette as files.
"use strict";

// Takes the film's name and palette, [[hex, share]...].
function saver(film, palette) {
    const {find, make, tell, rgb, percent} = common;
    const HIGH = 800, WIDE = 320;          // the program's own default height, and its smallest width
    const all = palette.reduce((sum, [, share]) => sum + share, 0);
    const named = palette.map(([hex, share]) => ({hex, rgb: rgb(hex), share: share / all, name: `${hex} ${percent(share / all)}`}));

    function save(ending, blob) {
        const link = make("a");
        link.href = URL.createObjectURL(blob);
        link.download = film.replace(/[\\/:*?"<>|\u0000-\u001f]+/g, " ").trim() + ending;
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 60000);
        tell(`${link.download} saved`);
    }

    // Saves columns of pictures, one below the other. All pixels of the first are there, each repeated as often as the
    // size allows. The others, of sound, are scaled to a quarter of its height.
    async function strip(pictures, all, first, count) {
        const canvas = make("canvas"), rows = pictures[0].naturalHeight;
        const high = rows * Math.max(1, Math.floor(HIGH / rows)), low = Math.ceil(high / 4);
        canvas.width = count * Math.ceil(WIDE / count);
        canvas.height = high + (pictures.length - 1) * low;
        const pen = canvas.getContext("2d");
        pictures.forEach((picture, i) => {
            const each = picture.naturalWidth / all, top = i > 0 ? high + (i - 1) * low : 0;
            pen.imageSmoothingEnabled = i > 0;
            pen.drawImage(picture, first * each, 0, count * each, picture.naturalHeight, 0, top, canvas.width, i > 0 ? low : high);
        });
        canvas.toBlob((blob) => save(` ${pictures[0].dataset.mode}.png`, blob));
    }

    const json = () => JSON.stringify({name: film, colours: named.map((c) => ({hex: c.hex, rgb: c.rgb, share: Number(c.share.toFixed(6))}))}, null, 1);
    const css = () => `:root {\n${named.map((c, i) => `  --film-${i + 1}: ${c.hex};\n`).join("")}}\n`;
    const gpl = () => `GIMP Palette\nName: ${film.replace(/\s+/g, " ")}\nColumns: ${named.length}\n#\n${named.map((c) => `${c.rgb.join(" ")}\t${c.name}\n`).join("")}`;

    // Adobe Swatch Exchange: src/output/formats/ase.c.
    function ase() {
        const out = [];
        const put = (size, value) => { for (let at = size - 1; at >= 0; at--) out.push((value >>> (8 * at)) & 255); };
        out.push(...new TextEncoder().encode("ASEF"));
        put(2, 1);
        put(2, 0);
        put(4, named.length);
        for (const {name, rgb: channels} of named) {
            put(2, 1);
            put(4, 2 + 2 * (name.length + 1) + 4 + 3 * 4 + 2);
            put(2, name.length + 1);
            for (const letter of `${name}\0`) put(2, letter.charCodeAt(0));
            out.push(...new TextEncoder().encode("RGB "));
            for (const channel of channels) put(4, new Uint32Array(new Float32Array([channel / 255]).buffer)[0]);
            put(2, 0);
        }
        return new Uint8Array(out);
    }

    for (const [ending, tip, content] of [["ase", "Adobe Swatch Exchange", ase], ["gpl", "GIMP, Inkscape, Krita", gpl], ["css", "Custom properties of CSS", css], ["json", "JSON", json]]) {
        const button = make("button", "", ending.toUpperCase());
        button.type = "button";
        button.title = tip;
        button.setAttribute("aria-label", `Save the palette as ${ending.toUpperCase()}`);
        button.addEventListener("click", () => save(`.${ending}`, new Blob([content()])));
        find("saves").append(button);
    }
    return {strip};
}
