/*
 * bench_shots.c - the shots of frames on standard input, for shots_judge.py.
 *
 *   bench_shots THRESHOLD < FRAMES    "frame by transition_frames" of each shot
 *
 * A frame is SCAN_WIDTH x SCAN_HEIGHT x RGB8, preceded by its time in microseconds (int64_t). The
 * last line is the time of scan_put in ns a frame.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "barcode/base/clock.h"
#include "shots/shots.h"

enum { FRAME = SCAN_WIDTH * SCAN_HEIGHT * 3 };

static void fail(const struct err *e)
{
    fprintf(stderr, "bench_shots: %s\n", e->text);
    exit(1);
}

int main(int argc, char **argv)
{
    struct err e = ERR_INIT;
    static uint8_t rgb[FRAME];
    int64_t time_us, took = 0;
    uint64_t n = 0;
    struct film_scan film;
    struct shots shots;
    struct scan *s = scan_open(&e);
    if (argc != 2 || !s)
        return 2;
    while (fread(&time_us, sizeof time_us, 1, stdin) == 1 && fread(rgb, FRAME, 1, stdin) == 1) {
        int64_t begun = clock_thread_ns();
        if (!scan_put(s, n++, time_us, rgb, &e))
            fail(&e);
        took += clock_thread_ns() - begun;
    }
    if (!scan_end(s, -1, &film, &e) ||
        !shots_find(&film, (int)strtol(argv[1], NULL, 10), &shots, &e))
        fail(&e);
    for (size_t i = 0; i < shots.count; i++)
        printf("%" PRIu64 " %s %" PRIu32 "\n", shots.shot[i].frame,
               shot_transition_name(shots.shot[i].begins_by), shots.shot[i].transition_frames);
    printf("%" PRId64 " ns\n", n ? took / (int64_t)n : 0);
    shots_free(&shots);
    film_scan_free(&film);
    scan_free(&s);
    return 0;
}
