/*
 * check_dominant - the modes of the CUDA engine against dominant_modes: the same bytes. Outputs are
 * poisoned before, and the bytes around them must be untouched.
 *
 *   check_dominant [--quick]     --quick: what the emulator can do in a few seconds
 */
#include "barcode/engine/dominant.h"
#include "check.h"
#include "gpu.h"

enum kind { RANDOM, ONE_COLOUR, FEW, RAMP, NOISE, BARS, TWO, KINDS };

static void draw(uint8_t *rgb, int pixels, kind k, rng &r)
{
    uint8_t base[8][3];
    for (int i = 0; i < 24; i++)
        base[i / 3][i % 3] = (uint8_t)r.below(256);
    for (int i = 0; i < pixels; i++) {
        int which = r.below(8);
        for (int c = 0; c < 3; c++) {
            int v = k == RANDOM       ? r.below(256)
                    : k == ONE_COLOUR ? base[0][c]
                    : k == FEW        ? base[which][c]
                    : k == RAMP       ? (int)((long long)i * 255 / pixels)
                    : k == NOISE      ? base[which % 2][c] + r.below(20)
                    : k == BARS       ? (i < pixels / 4 ? 0 : base[1][c] + r.below(9))
                                      : base[i & 1][c];
            rgb[3 * (size_t)i + c] = (uint8_t)(v > 255 ? 255 : v);
        }
    }
}

/* n frames of a kind in one batch, in a workspace for n + 1. */
static void compare(int n, int pixels, kind k, int most, rng &r)
{
    struct err e = ERR_INIT;
    size_t bytes = (size_t)n * pixels * 3, out_bytes = (size_t)n * sizeof(gpu_modes);
    std::vector<uint8_t> frames(bytes), right(out_bytes);
    struct dominant *cpu = dominant_open(pixels, &e);
    for (int i = 0; i < n; i++) {
        gpu_modes *to = (gpu_modes *)right.data() + i;
        draw(frames.data() + (size_t)i * pixels * 3, pixels, k, r);
        to->modes =
            dominant_modes(cpu, frames.data() + (size_t)i * pixels * 3, pixels, most, to->mode);
    }
    dominant_free(&cpu);
    device_buffer rgb(bytes), out(out_bytes);
    rgb.put(frames.data(), bytes);
    struct dominant_gpu *gpu = dominant_gpu_open(n + 1, &e);
    bool ok = gpu != NULL;
    for (int turn = 0; turn < 2 && ok; turn++) { /* nothing of a run is left for the next */
        ok = dominant_gpu_run(gpu, rgb.data(), n, pixels, most, NULL, (gpu_modes *)out.data(), &e);
        must(cudaStreamSynchronize(NULL), "modes");
        ok = ok && out.get() == right && out.guards_whole() && rgb.get() == frames &&
             rgb.guards_whole();
    }
    dominant_gpu_free(&gpu);
    check(ok, "%d modes of %d frames of %d pixels, kind %d: %s", most, n, pixels, (int)k, e.text);
}

int main(int argc, char **argv)
{
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    need_device("check_dominant");
    rng r{11};
    for (int k = 0; k < KINDS; k++) {
        static const int sizes[] = {1, 2, 31, 511, 512, 513, 8191, 8192, 8193, 20000};
        for (int pixels : sizes)
            for (int most : {1, 3, DOMINANT_MOST + 0})
                compare(2, pixels, (kind)k, most, r);
        if (quick)
            continue;
        compare(300, 160 * 90, (kind)k, 1, r);
        compare(300, 160 * 90, (kind)k, DOMINANT_MOST, r);
        compare(100, 320 * 180, (kind)k, 1, r);
        compare(100, 320 * 180, (kind)k, DOMINANT_MOST, r);
        compare(2, 1920 * 1080, (kind)k, 1, r);
        compare(2, 1920 * 1080, (kind)k, DOMINANT_MOST, r);
        compare(1, 4099 * 4099, (kind)k, DOMINANT_MOST, r);
    }
    return done();
}
