#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "align_output.h"
#include "command.h"
#include "base/version.h"
#include "output/formats/json.h"

/* As of the other JSON: increased when a reader would misread the new output. */
enum { ALIGN_FORMAT = 1 };

static json_t *seconds(int64_t us) { return json_real((double)us / 1e6); }

static json_t *film_object(const struct align_film *film, int64_t sound_us)
{
    return json_pack("{ss so}", "name", film->name, "sound", seconds(sound_us));
}

static json_t *segment_object(const struct align_segment *s)
{
    return json_pack("{so so so so ss}", "a_start", seconds(s->a_from_us), "a_end",
                     seconds(s->a_to_us), "b_start", seconds(s->b_from_us), "b_end",
                     seconds(s->b_to_us), "kind", align_kind_name(s->kind));
}

bool align_write_json(const struct align_result *r, FILE *f)
{
    const struct align_map *map = r->map;
    json_t *list = json_array();
    bool ok = list;
    for (size_t i = 0; i < map->segments && ok; i++)
        ok = json_array_append_new(list, segment_object(&map->segment[i])) == 0;
    json_t *all = json_pack(
        "{si ss so so s{si si sb} sf so so}", "align", ALIGN_FORMAT, "version", BARCODE_VERSION,
        "a", film_object(&r->film[0], map->a_us), "b", film_object(&r->film[1], map->b_us), "speed",
        "num", map->speed_num, "den", map->speed_den, "same_pitch", map->same_pitch, "score",
        (double)map->score / ALIGN_SCORE_MOST, "common", seconds(map->common_us), "segments", list);
    ok = ok && all;
    if (!ok)
        errno = ENOMEM;
    ok = ok && json_dumpf(all, f, JSON_INDENT(1) | JSON_REAL_PRECISION(15)) == 0 &&
         fputc('\n', f) != EOF;
    json_decref(all);
    return ok;
}

/* ---- Reading ---- */

static int64_t microseconds(const json_t *value)
{
    double s = json_number_value(value); /* 0 if it is null */
    return isfinite(s) && s >= 0 && s < 1e9 ? (int64_t)(s * 1e6 + 0.5) : 0;
}

bool align_json_read(const char *path, struct align_film *film, struct err *e)
{
    json_error_t reason;
    size_t bytes;
    FILE *f = command_output(path, &bytes, e);
    if (!f)
        return false;
    json_t *all = json_loadf(f, 0, &reason);
    fclose(f);
    const json_t *object = json_object_get(all, "film");
    if (!object) {
        json_decref(all);
        return err_set(e, ERR_FAILED, "cannot read '%s': %s", path, all ? "" : reason.text);
    }
    film->rate = json_number_value(json_object_get(object, "rate"));
    film->start_us = microseconds(json_object_get(object, "start"));
    film->duration_us = microseconds(json_object_get(object, "duration"));
    json_decref(all);
    return true;
}
