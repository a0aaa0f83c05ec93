// The page of a film: draws thumbnails from the sheets.
"use strict";

// Takes the facts, states and means of the viewer. Times have `digits()` decimals.
function sheets(facts, states, means, digits) {
    const {find, bytes, clock} = common;
    const MISSING = 0, count = facts.columns, meansEach = facts.dominant ? 6 : 3;
    const canvas = find("frame");
    const told = facts.thumbnails;
    if (!told) return {draw() {}};
    const pen = canvas.getContext("2d"), images = [];
    // each: column of the film, ms, sheet, x, y
    const places = new Uint32Array(bytes(find("thumbs").textContent).buffer), EACH = 5;
    let wanted = 0;
    canvas.width = told.width;
    canvas.height = told.height;
    canvas.hidden = false;

    function image(n) {
        if (!images[n]) {
            images[n] = new Image();
            images[n].src = `data:image/jpeg;base64,${find(`sheet-${n}`).textContent}`;
            images[n].decode().then(() => draw(wanted), () => {});
        }
        return images[n];
    }

    // Returns how different the means of two columns are.
    const unlike = (i, other) => [0, 1, 2].reduce((sum, c) => sum + Math.abs(means[i * meansEach + c] - means[other * meansEach + c]), 0);
    const columnOf = (thumb) => Math.min(count - 1, Math.floor((places[thumb * EACH] * count) / facts.film_columns));

    // Returns the thumbnail before or after the column, whichever is more similar: a cut may be between
    // the column and the other thumbnail.
    function placeOf(i) {
        const column = Math.floor(((2 * i + 1) * facts.film_columns) / (2 * count));
        let low = 0, high = places.length / EACH;
        while (high - low > 1) {
            const middle = (low + high) >> 1;
            if (places[middle * EACH] <= column) low = middle;
            else high = middle;
        }
        const next = Math.min(low + 1, places.length / EACH - 1);
        return (places[low * EACH] !== column && unlike(i, columnOf(next)) < unlike(i, columnOf(low)) ? next : low) * EACH;
    }

    function draw(i) {
        const [, ms, n, x, y] = places.subarray(placeOf(i), placeOf(i) + EACH), sheet = image(n);
        wanted = i;
        if (states[3 * i] === MISSING) {
            pen.clearRect(0, 0, told.width, told.height);
            canvas.setAttribute("aria-label", "No frame");
            return;
        }
        canvas.setAttribute("aria-label", `The frame at ${clock(ms / 1000, digits())}`);
        if (!sheet.complete || !sheet.naturalWidth) return;
        pen.drawImage(sheet, x, y, told.width, told.height, 0, 0, told.width, told.height);
    }

    // Decodes the sheets in idle time, so that the pointer never waits for a sheet.
    function ahead(n) {
        if (n >= told.sheets) return;
        image(n).decode().catch(() => {}).then(() => setTimeout(ahead, 0, n + 1));
    }
    addEventListener("load", () => setTimeout(ahead, 50, 0));
    return {draw};
}
