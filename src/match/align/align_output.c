#include "align.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/atomic_file.h"
#include "base/path.h"
#include "base/text.h"
#include "base/version.h"
#include "output/formats/json.h"

static const struct align_format formats[] = {
    {"csv", false, false, align_write_csv},
    {"html", true, false, align_write_html},
    {"edl", false, true, align_write_edl},
    {"json", false, false, align_write_json},
};

const struct align_format *align_format_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    if (atomic_file_is_stdout(path))
        return &formats[0];
    for (size_t i = 0; dot && i < sizeof formats / sizeof *formats; i++)
        if (strcasecmp(dot + 1, formats[i].ending) == 0)
            return &formats[i];
    return NULL;
}

bool align_output_save(const struct align_format *format, const struct align_result *r,
                       const char *path, struct err *e)
{
    struct atomic_file *file = atomic_file_open(path, false, e);
    if (!file)
        return false;
    errno = 0;
    if (!format->write(r, atomic_file_stream(file))) {
        err_set(e, ERR_FAILED, "cannot write '%s': %s", path, strerror(errno ? errno : EIO));
        atomic_file_discard(&file);
        return false;
    }
    return atomic_file_commit(&file, e);
}

char *align_film_name(const char *path, struct err *e)
{
    size_t length;
    const char *last = path_last(path, &length);
    char *name = err_calloc(length + 1, 1, e);
    if (!name)
        return NULL;
    memcpy(name, last, length);
    text_make_plain(name);
    return name;
}

/* ---- CSV ---- */

static void put_us(FILE *f, int64_t us)
{
    fprintf(f, "%" PRId64 ".%03d", us / 1000000, (int)(us % 1000000 / 1000));
}

bool align_write_csv(const struct align_result *r, FILE *f)
{
    fputs("a_start,a_end,b_start,b_end,kind\n", f);
    for (size_t i = 0; i < r->map->segments; i++) {
        const struct align_segment *s = &r->map->segment[i];
        const int64_t us[] = {s->a_from_us, s->a_to_us, s->b_from_us, s->b_to_us};
        for (size_t k = 0; k < 4; k++) {
            put_us(f, us[k]);
            fputc(',', f);
        }
        fprintf(f, "%s\n", align_kind_name(s->kind));
    }
    return !ferror(f);
}

/* ---- EDL ---- */

/* Writes a timecode without drop frames. Frames are counted at the film's rate. */
static void put_timecode(FILE *f, int64_t frame, int base)
{
    int64_t second = frame / base;
    fprintf(f, " %02" PRId64 ":%02d:%02d:%02d", second / 3600 % 24, (int)(second / 60 % 60),
            (int)(second % 60), (int)(frame % base));
}

static int64_t frame_at(int64_t us, double rate) { return llround((double)us * rate / 1e6); }

/*
 * Writes an event: the source's time, then the record's, which is B's. CMX 3600 gives an end as the
 * frame after the last one. M2 is the speed of a source in its frames a second.
 */
static void put_event(const struct align_result *r, FILE *f, int number, int source, int64_t from,
                      int64_t to, int64_t record_from, int64_t record_to)
{
    const double rate = r->film[1].rate;
    const int base = (int)lround(rate);
    const struct align_map *map = r->map;
    fprintf(f, "%03d  %-8s V     C       ", number, source == 0 ? "A" : "B");
    put_timecode(f, from, base);
    put_timecode(f, to, base);
    put_timecode(f, record_from, base);
    put_timecode(f, record_to, base);
    fputc('\n', f);
    if (source == 0 && map->speed_num != map->speed_den) {
        fprintf(f, "M2   %-8s %05.1f   ", "A", rate * map->speed_num / map->speed_den);
        put_timecode(f, from, base);
        fputc('\n', f);
    }
}

/* Returns true for the rates that timecodes are made for. */
static bool has_timecode(double rate)
{
    static const int usual[] = {24, 25, 30, 48, 50, 60};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (fabs(rate - usual[i]) < 0.1)
            return true;
    return false;
}

/*
 * Writes how B is made: of A, and of itself where A lacks it. A's missing parts are what is skipped
 * in A. Frames are B's, or 25 a second if B has an unusual rate.
 */
bool align_write_edl(const struct align_result *r, FILE *f)
{
    struct align_result known = *r;
    double *rate = &known.film[1].rate;
    int number = 0;
    if (!has_timecode(*rate))
        *rate = 25;
    fprintf(f, "TITLE: %.60s\nFCM: NON-DROP FRAME\n\n", r->film[1].name);
    for (size_t i = 0; i < r->map->segments; i++) {
        const struct align_segment *s = &r->map->segment[i];
        bool a = s->kind == ALIGN_BOTH;
        int64_t from = frame_at(s->b_from_us, *rate), to = frame_at(s->b_to_us, *rate);
        int64_t begin = a ? frame_at(s->a_from_us, *rate) : from;
        int64_t end = a ? frame_at(s->a_to_us, *rate) : to;
        if (s->kind == ALIGN_ONLY_A || to <= from)
            continue;
        /* Without a change of speed, source and record are equally long. */
        if (a && r->map->speed_num == r->map->speed_den)
            end = begin + to - from;
        put_event(&known, f, ++number, a ? 0 : 1, begin, end, from, to);
        fprintf(f, "* FROM CLIP NAME: %s\n\n", r->film[a ? 0 : 1].name);
    }
    return !ferror(f);
}

/* ---- JSON ---- */

/* As of the other JSON: increased when a reader would misread the new output. */
enum { ALIGN_FORMAT = 1 };

static json_t *seconds_value(int64_t us) { return json_real((double)us / 1e6); }

static json_t *film_object(const struct align_film *film, int64_t sound_us)
{
    return json_pack("{ss so}", "name", film->name, "sound", seconds_value(sound_us));
}

static json_t *segment_object(const struct align_segment *s)
{
    return json_pack("{so so so so ss}", "a_start", seconds_value(s->a_from_us), "a_end",
                     seconds_value(s->a_to_us), "b_start", seconds_value(s->b_from_us), "b_end",
                     seconds_value(s->b_to_us), "kind", align_kind_name(s->kind));
}

bool align_write_json(const struct align_result *r, FILE *f)
{
    const struct align_map *map = r->map;
    json_t *list = json_array();
    bool ok = list;
    for (size_t i = 0; i < map->segments && ok; i++)
        ok = json_array_append_new(list, segment_object(&map->segment[i])) == 0;
    json_t *all = json_pack("{si ss so so s{si si sb} sf so so}", "align", ALIGN_FORMAT, "version",
                            BARCODE_VERSION, "a", film_object(&r->film[0], map->a_us), "b",
                            film_object(&r->film[1], map->b_us), "speed", "num", map->speed_num,
                            "den", map->speed_den, "same_pitch", map->same_pitch, "score",
                            (double)map->score / ALIGN_SCORE_MOST, "common",
                            seconds_value(map->common_us), "segments", list);
    ok = ok && all;
    if (!ok)
        errno = ENOMEM;
    ok = ok && json_dumpf(all, f, JSON_INDENT(1) | JSON_REAL_PRECISION(15)) == 0;
    ok = ok && fputc('\n', f) != EOF;
    json_decref(all);
    return ok;
}
