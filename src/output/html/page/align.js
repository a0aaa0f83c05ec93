// The time in both films under the pointer. parts: [from, to, a_from, a_to, b_from, b_to] of the axis and the films, in seconds.
const axis = document.querySelector(".axis"), now = document.querySelector(".now"), line = document.querySelector(".line");
const total = parts[parts.length - 1][1];

function clock(s) {
    const t = Math.floor(s * 10), two = (n) => String(n).padStart(2, "0");
    return `${Math.floor(t / 36000)}:${two(Math.floor(t / 600) % 60)}:${two(Math.floor(t / 10) % 60)}.${t % 10}`;
}

const film = (name, from, to, share) => `${name} ${from === to ? "lacks this" : clock(from + share * (to - from))}`;

axis.addEventListener("pointermove", (event) => {
    const box = axis.getBoundingClientRect();
    const x = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1) * total;
    const p = parts.find((q) => x < q[1]) || parts[parts.length - 1];
    const share = Math.min((x - p[0]) / (p[1] - p[0]), 1);
    line.hidden = false;
    line.style.left = `${100 * x / total}%`;
    now.textContent = `${film("A", p[2], p[3], share)} \u00b7 ${film("B", p[4], p[5], share)}`;
});

axis.addEventListener("pointerleave", () => {
    line.hidden = true;
    now.textContent = "";
});
