"""OKLab in integers (colour.h), and the order of a palette's bands by the definition of band_order.h once more."""


def linear_light(rgb):
    """The channels of an sRGB colour, by IEC 61966-2-1, in the units of colour.h."""
    share = (v / 255 for v in rgb)
    return [int(65535 * (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4) + 0.5) for v in share]


def luminance(rgb):
    linear = linear_light(rgb)
    return 2126 * linear[0] + 7152 * linear[1] + 722 * linear[2]


def root(light):
    return round(16384 * (light / 65535) ** (1 / 3))


def oklab(rgb):
    lms = ((27015, 35149, 3372), (13887, 44610, 7039), (5787, 18463, 41286))
    lab = ((13792, 52011, -267), (129630, -159160, 29530), (1698, 51300, -52998))
    light = linear_light(rgb)
    cone = [root(sum(m * v for m, v in zip(row, light)) + (1 << 15) >> 16) for row in lms]
    return [sum(m * v for m, v in zip(row, cone)) + (1 << 19) >> 20 for row in lab]


class Palette:
    def __init__(self, colours):
        total = sum(c["count"] for c in colours)
        self.indices = range(len(colours))
        self.w = [c["count"] * 65536 // total for c in colours]
        self.lightness = [root(luminance(c["rgb"]) // 10000) // 16 for c in colours]
        self.lab = [oklab(c["rgb"]) for c in colours]
        self.spread = 819 // max(8, len(colours))
        self.by_light = sorted(self.indices, key=lambda j: -luminance(colours[j]["rgb"]))

    def disorder(self, order):
        at = self.lightness
        return sum(self.w[i] * self.w[j] * (at[j] - at[i]) >> 17 for n, i in enumerate(order) for j in order[n + 1:] if at[j] > at[i])

    def permits(self, order):
        lightest = 0
        for j in reversed(order):
            if lightest - self.lightness[j] > self.spread:
                return False
            lightest = max(lightest, self.lightness[j])
        return True


def distance(a, b):
    return abs(a[0] - b[0]) + 2 * abs(a[1] - b[1]) + 2 * abs(a[2] - b[2])


def change(before, bands, now, order, d):
    """The sum over all heights."""
    total, y, i, j = 0, 0, 0, 0
    ends = [before.w[bands[0]], now.w[order[0]]]
    while True:
        end = min(ends)
        total += (end - y) * d[order[j]][i]
        y = end
        if ends[0] == y:
            i += 1
            if i == len(bands):
                return total
            ends[0] += before.w[bands[i]]
        else:
            j += 1
            if j == len(order):
                return total
            ends[1] += now.w[order[j]]


def follow(before, bands, now, d):
    band = [row.index(min(row)) for row in d]
    left, order = list(now.by_light), []
    while left:
        near = [j for j in left if now.lightness[left[0]] - now.lightness[j] <= now.spread]
        order.append(min(near, key=lambda j: band[j]))
        left.remove(order[-1])
    for _ in range(16):
        begun = list(order)
        for j in now.indices:
            at = order.index(j)
            others = order[:at] + order[at + 1:]
            places = [at] + list(range(at - 1, -1, -1)) + list(range(at + 1, len(order)))
            ways = [others[:p] + [j] + others[p:] for p in places]
            ways = [w for w in ways if now.permits(w)]
            order = min(ways, key=lambda w: change(before, bands, now, w, d) + now.disorder(w))
        if order == begun:
            break
    return order


def orders(columns):
    """Of each column with colours in turn, the indices of its colours from top to bottom."""
    made, before = [], None
    for c in columns:
        if before is not None and c["frame"] == before["frame"]:
            made.append((candidates, (0, 1)))
            continue
        now, before = Palette(c["colours"]), c
        if not made:
            candidates, came, sums = [now.by_light] * 2, (0, 0), [0, 0]
        else:
            found = []
            for m, bands in enumerate(candidates):
                d = [[distance(now.lab[j], last.lab[i]) for i in bands] for j in now.indices]
                for n, order in enumerate((now.by_light, follow(last, bands, now, d))):
                    value = sums[m] + change(last, bands, now, order, d) + now.disorder(order)
                    found.append((value, m, n, order))
            best = [min(f for f in found if f[2] == n) for n in (0, 1)]
            sums, came, candidates = [b[0] for b in best], [b[1] for b in best], [b[3] for b in best]
        last = now
        made.append((candidates, came))
    choice = 0 if sums[0] <= sums[1] else 1
    result = []
    for candidates, came in reversed(made):
        result.append(candidates[choice])
        choice = came[choice]
    return result[::-1]
