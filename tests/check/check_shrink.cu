/*
 * check_shrink - the GPU's shrink and row sums against src/engine/shrink.c, byte for byte: every
 * layout that NVDEC gives and some that it never will, sizes odd and even, enlarging, all depths,
 * matrices, ranges and orientations; and of HDR and linear light (light.h) every curve, transfer
 * and set of primaries.
 */
#include "barcode/engine/column.h"
#include "barcode/engine/shrink.h"
#include "check.h"
#include "gpu.h"

enum layout { NV12, P010, P012, PLANAR_444, PLANAR_444_16, GREY, RGB24, LAYOUTS };

struct picture {
    frame_view view;
    std::vector<uint8_t> bytes;
};

static void fill(std::vector<uint8_t> &to, rng &r, int kind, bool wide, int bits, int shift)
{
    for (size_t i = 0; i + 1 < to.size(); i += wide ? 2 : 1) {
        unsigned value = kind == 0   ? (unsigned)r.next()
                         : kind == 1 ? ~0u
                         : kind == 2 ? 0
                                     : (unsigned)(i / 7);
        if (wide) {
            uint16_t word = (uint16_t)((value & ((1u << bits) - 1)) << shift);
            memcpy(&to[i], &word, 2);
        } else {
            to[i] = (uint8_t)value;
        }
    }
}

static void set_plane(picture &p, int i, size_t offset, ptrdiff_t pitch, int step, int width,
                      int height)
{
    p.view.plane[i] = {(const uint8_t *)offset, pitch, step, width, height};
}

/* A picture whose plane addresses are offsets into its bytes. */
static picture make(layout l, int width, int height, int kind, rng &r)
{
    picture p;
    bool wide = l == P010 || l == P012 || l == PLANAR_444_16;
    int word = wide ? 2 : 1, cw = (width + 1) / 2, ch = (height + 1) / 2;
    ptrdiff_t pitch = (width * word * (l == RGB24 ? 3 : 1) + 255) / 256 * 256;
    p.view = {};
    p.view.model = l == GREY ? MODEL_GREY : l == RGB24 ? MODEL_RGB : MODEL_YCBCR;
    p.view.matrix = (enum matrix)(MATRIX_BT601 + r.below(5));
    p.view.transfer = (enum transfer)r.below(TRANSFERS);
    p.view.primaries = (enum primaries)r.below(PRIMARIES);
    p.view.range = r.below(2) ? RANGE_FULL : RANGE_LIMITED;
    p.view.orientation = {r.below(4), r.below(2) != 0};
    p.view.bits = !wide ? 8 : l == P010 ? 10 : 12;
    p.view.shift = wide ? 16 - p.view.bits : 0;
    p.view.width = width;
    p.view.height = height;
    p.view.on_device = true;
    size_t luma = (size_t)pitch * height;
    if (l == NV12 || l == P010 || l == P012) {
        set_plane(p, 0, 0, pitch, word, width, height);
        set_plane(p, 1, luma, pitch, 2 * word, cw, ch);
        set_plane(p, 2, luma + word, pitch, 2 * word, cw, ch);
        p.bytes.resize(luma + (size_t)pitch * ch + 256);
    } else if (l == RGB24) {
        for (int i = 0; i < 3; i++)
            set_plane(p, i, i, pitch, 3, width, height);
        p.bytes.resize(luma);
    } else {
        for (int i = 0; i < (l == GREY ? 1 : 3); i++)
            set_plane(p, i, luma * i, pitch, word, width, height);
        p.bytes.resize(luma * (l == GREY ? 1 : 3));
    }
    fill(p.bytes, r, kind, wide, p.view.bits, p.view.shift);
    return p;
}

static frame_view placed(const picture &p, const uint8_t *base)
{
    frame_view v = p.view;
    for (int i = 0; i < 3; i++)
        v.plane[i].data = base + (size_t)p.view.plane[i].data;
    return v;
}

static struct light *some_light(rng &r)
{
    struct light_rule rule = {(enum tone_map)r.below(TONE_MAPS),
                              LIGHT_PEAK_LEAST + r.below(LIGHT_PEAK_MOST - LIGHT_PEAK_LEAST),
                              r.below(2) != 0};
    struct err e = ERR_INIT;
    struct light *light = light_open(&rule, 0, &e);
    check(light != NULL, "light is opened: %s", e.text);
    return light;
}

static void compare(layout l, int width, int height, int to_width, int to_height, int kind, rng &r,
                    struct light *light = NULL)
{
    picture p = make(l, width, height, kind, r);
    size_t bytes = (size_t)to_width * to_height * 3;
    struct err e = ERR_INIT;
    std::vector<uint8_t> right(bytes);
    struct shrink *s = shrink_open(to_width, to_height, &e);
    shrink_use_light(s, light);
    frame_view host = placed(p, p.bytes.data());
    bool ok = s && shrink_frame(s, &host, right.data(), &e);
    shrink_free(&s);
    device_buffer from(p.bytes.size()), to(bytes);
    from.put(p.bytes.data(), p.bytes.size());
    frame_view device = placed(p, from.data());
    struct light_gpu *there = light ? light_gpu_open(light, &e) : NULL;
    bool lit = light_wanted(light, &device);
    struct light_gamut gamut = {};
    if (lit)
        gamut = light_gamut(light, device.transfer, device.primaries);
    ok = ok && shrink_gpu(&device, to_width, to_height,
                          lit ? light_gpu_table(there, device.transfer, &e) : NULL, &gamut,
                          to.data(), 0, &e);
    must(cudaDeviceSynchronize(), "shrink");
    bool same = ok && to.get() == right && to.guards_whole() && from.guards_whole();
    light_gpu_free(&there);
    check(same, "layout %d, %dx%d to %dx%d, content %d%s %s", l, width, height, to_width, to_height,
          kind, lit ? ", by light" : "", e.text);
}

static void check_rows(int n, int width, int height, rng &r)
{
    std::vector<uint8_t> rgb((size_t)n * width * height * 3);
    for (auto &b : rgb)
        b = r.below(3) ? (uint8_t)r.next() : 255;
    std::vector<uint32_t> right((size_t)n * height * 3);
    for (size_t i = 0; i < rgb.size(); i++)
        right[i / (3 * (size_t)width) * 3 + i % 3] += rgb[i];
    device_buffer from(rgb.size()), to(right.size() * 4);
    from.put(rgb.data(), rgb.size());
    struct err e = ERR_INIT;
    bool ok = row_sums_gpu(from.data(), n, width, height, NULL, (uint32_t *)to.data(), 0, &e);
    must(cudaDeviceSynchronize(), "row sums");
    std::vector<uint8_t> got = to.get();
    check(ok && memcmp(got.data(), right.data(), got.size()) == 0 && to.guards_whole(),
          "row sums of %d x %dx%d", n, width, height);
}

static void check_row_light(int n, int width, int height, rng &r)
{
    struct err e = ERR_INIT;
    struct light_rule rule = {TONE_OFF, LIGHT_PEAK_USUAL, true};
    struct light *light = light_open(&rule, 0, &e);
    struct light_gpu *there = light_gpu_open(light, &e);
    const struct light_table *sdr = light_table(light, TRANSFER_SDR, &e);
    std::vector<uint8_t> rgb((size_t)n * width * height * 3);
    for (auto &b : rgb)
        b = r.below(3) ? (uint8_t)r.next() : 255;
    std::vector<uint32_t> right((size_t)n * height * 3);
    for (size_t row = 0; row < (size_t)n * height; row++)
        column_row_light(sdr, &rgb[row * width * 3], width, &right[row * 3]);
    device_buffer from(rgb.size()), to(right.size() * 4);
    from.put(rgb.data(), rgb.size());
    bool ok = row_sums_gpu(from.data(), n, width, height, light_gpu_table(there, TRANSFER_SDR, &e),
                           (uint32_t *)to.data(), 0, &e);
    must(cudaDeviceSynchronize(), "rows of light");
    std::vector<uint8_t> got = to.get();
    check(ok && memcmp(got.data(), right.data(), got.size()) == 0 && to.guards_whole(),
          "rows of light of %d x %dx%d", n, width, height);
    light_gpu_free(&there);
    light_close(&light);
}

static void refused(int width, int bits, int shift, int step)
{
    rng r{7};
    picture p = make(NV12, 64, 36, 0, r);
    frame_view v = placed(p, (const uint8_t *)4096);
    v.width = width;
    v.bits = bits;
    v.shift = shift;
    v.plane[0].step = step;
    struct err e = ERR_INIT;
    check(!shrink_gpu(&v, 16, 9, NULL, NULL, NULL, 0, &e) && e.code == ERR_FAILED,
          "a view of %d wide, %d bits, shift %d, step %d is refused", width, bits, shift, step);
}

int main()
{
    need_device("check_shrink");
    rng r{20261121};
    static const int size[][4] = {
        {1920, 1080, 320, 180},
        {1920, 1080, 160, 90},
        {1920, 1080, 480, 270},
        {1280, 720, 320, 180},
        {853, 480, 320, 180},
        {1919, 1079, 319, 181},
        {720, 576, 320, 256},
        {64, 36, 64, 36},
        {64, 36, 200, 100},
        {1, 1, 1, 1},
        {2, 2, 1, 1},
        {1, 7, 3, 5},
        {333, 1, 7, 1},
        {1920, 1080, 1, 1},
        {1920, 1080, 3, 2},
        {4096, 2160, 16, 9},
        {300, 200, 299, 199},
        {17, 31, 31, 17},
        {3840, 2160, 3840, 2160},
        {1920, 800, 320, 133},
    };
    for (auto &s : size)
        for (int l = 0; l < LAYOUTS; l++)
            for (int kind = 0; kind < 4; kind++)
                compare((layout)l, s[0], s[1], s[2], s[3], kind, r);
    for (int i = 0; i < 200; i++)
        compare((layout)r.below(LAYOUTS), 1 + r.below(700), 1 + r.below(500), 1 + r.below(400),
                1 + r.below(300), r.below(4), r);
    for (int i = 0; i < 200; i++) {
        struct light *light = some_light(r);
        if (i < 4)
            compare((layout)(i % LAYOUTS), 1920, 1080, 320, 180, 0, r, light);
        else if (i < 8)
            compare((layout)(i % LAYOUTS), 1920, 1080, 3, 2, 0, r, light);
        else
            compare((layout)r.below(LAYOUTS), 1 + r.below(700), 1 + r.below(500), 1 + r.below(400),
                    1 + r.below(300), r.below(4), r, light);
        light_close(&light);
    }
    check_row_light(3, 320, 180, r);
    check_row_light(1, 1, 1, r);
    check_row_light(7, 33, 5, r);
    check_rows(3, 320, 180, r);
    check_rows(1, 1, 1, r);
    check_rows(7, 33, 5, r);
    check_rows(2, 1920, 1080, r);
    refused(0, 8, 0, 1);
    refused(16385, 8, 0, 1);
    refused(64, 7, 0, 1);
    refused(64, 17, 0, 2);
    refused(64, 10, 7, 2);
    refused(64, 10, 6, 1);
    refused(64, 8, 0, 65);
    return done();
}
