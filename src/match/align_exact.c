#include "align_exact.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "align_frames.h"
#include "base/log.h"
#include "base/path.h"
#include "batch/batch_run.h"

enum { REACH_US = 2000000, MORE_US = 400000, FRAMES_MOST = 4096 };

struct exact {
    const struct command_line *line;
    const struct align_film *film;
    const char *folder;
    int *status;
};

static void free_frames(struct align_frames *f)
{
    free(f->time_us);
    free(f->rgb);
    *f = (struct align_frames){0};
}

/* Reads the times of a CSV and the frames of a dump, as far as both go. */
static bool read_frames(const char *csv, const char *dump, struct align_frames *out, struct err *e)
{
    const double most_s = 1e8;
    size_t bytes;
    FILE *times = command_output(csv, &bytes, e);
    FILE *pixels = times ? command_output(dump, &bytes, e) : NULL;
    char row[64];
    out->time_us = err_calloc(FRAMES_MOST, sizeof *out->time_us, e);
    out->rgb = out->time_us ? err_calloc(FRAMES_MOST, ALIGN_FRAME_BYTES, e) : NULL;
    bool ok = out->rgb && times && pixels && fgets(row, sizeof row, times);
    while (ok && out->count < FRAMES_MOST && fgets(row, sizeof row, times) &&
           fread(out->rgb + out->count * ALIGN_FRAME_BYTES, ALIGN_FRAME_BYTES, 1, pixels) == 1) {
        double s = strtod(row, NULL);
        ok = s > -most_s && s < most_s; /* false for NAN */
        if (ok)
            out->time_us[out->count++] = (int64_t)(s * 1e6 + 0.5);
        else
            errno = ERANGE;
    }
    if (!ok)
        err_set(e, ERR_FAILED, "cannot read '%s': %s", csv, strerror(errno));
    if (times)
        fclose(times);
    if (pixels)
        fclose(pixels);
    return ok;
}

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t earlier(int64_t a, int64_t b) { return a < b ? a : b; }

/* Decodes the frames of a film from `reach` before a time to `reach` after it. */
static bool decode_around(const struct exact *x, int film, int64_t us, int64_t reach,
                          struct align_frames *out, struct err *e)
{
    const struct align_film *f = &x->film[film];
    int64_t from = later(us - reach, f->start_us);
    int64_t to = earlier(us + reach, f->start_us + f->duration_us);
    char start[32], end[32];
    *out = (struct align_frames){0};
    if (to - from < REACH_US / 4)
        return true;
    snprintf(start, sizeof start, "%" PRId64 ".%06d", from / 1000000, (int)(from % 1000000));
    snprintf(end, sizeof end, "%" PRId64 ".%06d", to / 1000000, (int)(to % 1000000));
    struct command_batch b = {0};
    char *csv = path_join(x->folder, "frames.csv", "", e);
    char *dump = csv ? path_join(x->folder, "frames.rgb", "", e) : NULL;
    const char *const words[] = {"--every", "1",       "--start", start,        "--end",
                                 end,       "--size",  "16x9",    "--crop",     "off",
                                 "-m",      "average", "--csv",   csv,          "--csv-columns",
                                 "time",    "--dump",  dump,      "--no-cache", NULL};
    bool ok = dump && command_batch_open(&b, x->line, &x->line->word[film], 1, words, e);
    if (ok) {
        *x->status = command_batch_run(&b);
        ok = *x->status == 0 && !batch_run_is_worker() && read_frames(csv, dump, out, e);
    }
    command_batch_close(&b);
    free(csv);
    free(dump);
    return ok;
}

/* Decodes the frames around an edit and moves it. `film` is the one that has the scene. */
static bool refine(const struct exact *x, int film, struct align_edit *edit, bool *moved,
                   struct err *e)
{
    struct align_frames own = {0}, before = {0}, after = {0};
    bool ok = decode_around(x, 1 - film, edit->own_us, REACH_US, &own, e) &&
              decode_around(x, film, edit->from_us, REACH_US + MORE_US, &before, e) &&
              decode_around(x, film, edit->to_us, REACH_US + MORE_US, &after, e);
    *moved = ok && align_frames_refine(&own, &before, &after, edit);
    free_frames(&own);
    free_frames(&before);
    free_frames(&after);
    return ok;
}

/* Moves the ends of a segment of one film only, and of its neighbours, if they stay in order. */
static void move_ends(struct align_segment *s, const struct align_edit *edit)
{
    struct align_segment *last = s - 1, *next = s + 1;
    bool a = s->kind == ALIGN_ONLY_A;
    int64_t a_from = a ? edit->from_us : edit->own_us, a_to = a ? edit->to_us : edit->own_us;
    int64_t b_from = a ? edit->own_us : edit->from_us, b_to = a ? edit->own_us : edit->to_us;
    if (a_from <= last->a_from_us || b_from <= last->b_from_us || a_to >= next->a_to_us ||
        b_to >= next->b_to_us)
        return;
    *s = (struct align_segment){s->kind, a_from, a_to, b_from, b_to};
    last->a_to_us = a_from;
    last->b_to_us = b_from;
    next->a_from_us = a_to;
    next->b_from_us = b_to;
}

static bool refine_all(const struct exact *x, struct align_map *map, int *moved, int *edits,
                       struct err *e)
{
    for (size_t i = 1; i + 1 < map->segments; i++) {
        struct align_segment *s = &map->segment[i];
        bool a = s->kind == ALIGN_ONLY_A, done;
        if (s->kind == ALIGN_BOTH || s[-1].kind != ALIGN_BOTH || s[1].kind != ALIGN_BOTH)
            continue;
        struct align_edit edit = {a ? s->b_from_us : s->a_from_us, a ? s->a_from_us : s->b_from_us,
                                  a ? s->a_to_us : s->b_to_us, a ? map->speed_num : map->speed_den,
                                  a ? map->speed_den : map->speed_num};
        if (!refine(x, a ? 0 : 1, &edit, &done, e))
            return false;
        if (done)
            move_ends(s, &edit);
        *moved += done;
        ++*edits;
    }
    return true;
}

bool align_exact(const struct command_line *line, const struct align_film film[2],
                 struct align_map *map, int *status, struct err *e)
{
    char *folder = command_folder(e);
    const struct exact x = {line, film, folder, status};
    int moved = 0, edits = 0;
    bool ok = folder && refine_all(&x, map, &moved, &edits, e);
    command_remove_folder(&folder);
    map->common_us = 0;
    for (size_t i = 0; i < map->segments; i++)
        if (map->segment[i].kind == ALIGN_BOTH)
            map->common_us += map->segment[i].a_to_us - map->segment[i].a_from_us;
    if (ok)
        log_msg(LOG_INFO, "%d of %d edits placed by the pictures", moved, edits);
    return ok;
}
