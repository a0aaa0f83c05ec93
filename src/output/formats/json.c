#include "json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "barcode/base/clock.h"
#include "barcode/engine/colour.h"
#include "base/interrupt.h"
#include "base/version.h"
#include "output/modes/time_axis.h"
#include "output/poster/labels.h"
#include "output/writer.h"

static json_t *tenths(int value) { return json_real(value / 10.0); }

json_t *json_sound_value(const struct report *r)
{
    const struct film_sound *s = report_sound(r);
    if (!s)
        return json_null();
    return json_pack("{si so so so si si sI so sI so so so}", "stream", s->stream, "codec",
                     writer_json_bytes(s->codec), "decoder", writer_json_bytes(s->decoder),
                     "layout", writer_json_bytes(s->layout), "rate", s->rate, "channels",
                     s->channels, "gaps", (json_int_t)s->gaps, "gap_seconds",
                     writer_json_us(s->gap_us), "errors", (json_int_t)s->errors, "loudness",
                     s->loudness == SOUND_NONE ? json_null() : tenths(s->loudness), "range",
                     tenths(s->range), "peak", tenths(s->peak));
}

json_t *json_shot_value(const struct shot *shot, size_t number)
{
    return json_pack(
        "{sI sI sI sI so so so ss si s[iii]}", "shot", (json_int_t)number, "first_frame",
        (json_int_t)shot->frame, "last_frame", (json_int_t)(shot->frame + shot->frames - 1),
        "frames", (json_int_t)shot->frames, "start", writer_json_us(shot->start_us), "end",
        writer_json_us(shot->end_us), "length", writer_json_us(shot->end_us - shot->start_us),
        "transition", shot_transition_name(shot->begins_by), "transition_frames",
        (int)shot->transition_frames, "average", shot->mean[0], shot->mean[1], shot->mean[2]);
}

/* Adds loudness, peak and centroid of a column, if the film has sound. Returns 0 on success. */
static int json_put_sound(json_t *value, const struct column_sound *sound, uint64_t i)
{
    struct sound_row row;
    if (!column_sound_at(sound, i, &row))
        return 0;
    return json_object_set_new(value, "loudness", tenths(row.loudness)) |
           json_object_set_new(value, "peak", tenths(row.peak)) |
           json_object_set_new(value, "centroid",
                               row.centroid > 0 ? json_integer(row.centroid) : json_null());
}

/* The keys and what they mean: increased when a reader of barcode.schema.json would misread the new
 * output. Adding keys does not. */
enum { JSON_FORMAT = 1 };

json_t *writer_json_us(int64_t us)
{
    /* Fifteen digits (writer_json_put) are exact to the microsecond for thirty years. */
    return us < 0 ? json_null() : json_real((double)us / 1e6);
}

json_t *writer_json_seconds(double seconds)
{
    return isfinite(seconds) && seconds >= 0 && seconds < 1e9
               ? writer_json_us((int64_t)(seconds * 1e6 + 0.5))
               : json_null();
}

json_t *writer_json_bytes(const char *bytes)
{
    if (!bytes)
        return json_null();
    size_t size = strlen(bytes) * 3 + 1; /* U+FFFD takes three bytes */
    char *text = malloc(size);
    if (!text)
        return NULL;
    paint_text_utf8(bytes, false, text, size);
    json_t *value = json_string_nocheck(text);
    free(text);
    return value;
}

json_t *writer_json_append(json_t *list, json_t *value)
{
    if (json_array_append_new(list, value) == 0)
        return list;
    json_decref(list);
    return NULL;
}

/* Returns the stage times as one object. */
static json_t *stages_value(const struct decode_times *t)
{
    return json_pack("{so so so so so so so}", "wall", writer_json_seconds(t->wall), "start_up",
                     writer_json_seconds(t->start_up), "demux", writer_json_seconds(t->demux),
                     "decode", writer_json_seconds(t->decode), "shrink",
                     writer_json_seconds(t->shrink), "cluster", writer_json_seconds(t->cluster),
                     "write", writer_json_seconds(t->write));
}

bool writer_json_put(FILE *f, json_t *value)
{
    errno = value ? 0 : ENOMEM;
    bool done = value &&
                json_dumpf(value, f, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15)) == 0;
    json_decref(value);
    return done;
}

/* Writes a key of the outermost object on its own line. */
static bool put_key(FILE *f, const char *key, json_t *value)
{
    if (fputs(strcmp(key, "version") == 0 ? "{\n\"" : ",\n\"", f) == EOF || fputs(key, f) == EOF ||
        fputs("\": ", f) == EOF) {
        json_decref(value);
        return false;
    }
    return writer_json_put(f, value);
}

static json_t *film_value(const struct report *r)
{
    const struct film *film = r->film;
    static const char *const transfer[] = {"sdr", "pq", "hlg"};
    const char *source = film_length_source_name(film->length.source);
    json_t *rate = film->rate_num > 0 && film->rate_den > 0
                       ? json_real((double)film->rate_num / (double)film->rate_den)
                       : json_null();
    return json_pack(
        "{so so so so so si si si si si si si ss sb ss sb ss si sb so so so so so}", "id",
        writer_json_bytes(r->id.film_id[0] ? r->id.film_id : NULL), "path",
        writer_json_bytes(film->path), "container", writer_json_bytes(film->container), "codec",
        writer_json_bytes(film->codec), "pixel_format", writer_json_bytes(film->pixel_format),
        "stream", film->stream, "video_stream", film->video, "video_streams", film->videos, "width",
        film->width, "height", film->height, "coded_width", film->coded_width, "coded_height",
        film->coded_height, "matrix", colour_matrix_name(film->matrix), "matrix_guessed",
        (int)film->matrix_guessed, "range", colour_range_name(film->range), "range_guessed",
        (int)film->range_guessed, "transfer", transfer[film->transfer], "rotation",
        film->orientation.quarter_turns * 90, "mirror", (int)film->orientation.mirror, "rate", rate,
        "duration", writer_json_us(film->length.duration_us), "duration_source",
        source ? json_string(source) : json_null(), "start", writer_json_us(film->length.start_us),
        "frames", film->length.frames < 0 ? json_null() : json_integer(film->length.frames));
}

static json_t *selection_value(const struct report_analysis *a)
{
    const struct selection *s = &a->selection;
    /* also the key of the rule */
    static const char *const kind[] = {"every", "interval", "columns"};
    json_t *rule;
    if (s->kind == SELECT_EVERY)
        rule = json_integer((json_int_t)s->every);
    else if (s->kind == SELECT_INTERVAL)
        rule = writer_json_us(s->interval_us);
    else
        rule = json_integer((json_int_t)s->columns);
    return json_pack("{ss so so so so* so*}", "kind", kind[s->kind], kind[s->kind], rule, "start",
                     writer_json_us(s->start_us), "end",
                     s->end_us == INT64_MAX ? json_null() : writer_json_us(s->end_us), "keyframes",
                     s->keyframes ? json_true() : NULL, "by_shot", a->by_shot ? json_true() : NULL);
}

/* Returns the seed. JSON readers keep 63 bits of an integer, so a larger seed is a string. */
static json_t *seed_value(uint64_t seed)
{
    return seed <= INT64_MAX ? json_integer((json_int_t)seed)
                             : json_sprintf("%llu", (unsigned long long)seed);
}

static json_t *colours_value(const struct cluster *cluster, int count)
{
    json_t *list = json_array();
    for (const struct cluster *k = cluster; k < cluster + count; k++)
        list = writer_json_append(list, json_pack("{s[iii] sI}", "rgb", k->rgb[0], k->rgb[1],
                                                  k->rgb[2], "count", (json_int_t)k->count));
    return list;
}

/*
 * Adds the dominant colour of the column; with --steady also the candidates. Returns 0 on success.
 */
static int put_modes(json_t *value, const struct column *c, const struct report *r)
{
    int failed = json_object_set_new(
        value, "dominant", json_pack("[iii]", c->dominant[0], c->dominant[1], c->dominant[2]));
    if (r->picture.steady > 0 && c->mode)
        failed |= json_object_set_new(value, "modes", colours_value(c->mode, c->modes)) |
                  json_object_set_new(value, "mode", json_integer(c->mode_chosen));
    return failed;
}

/* Returns the time for which a key frame was chosen. Targets begin with the film's first frame. */
static json_t *wanted_value(const struct report *r, uint64_t index)
{
    struct selection s = r->analysis.selection;
    s.start_us = s.start_us < r->run.counts.first_us ? r->run.counts.first_us : s.start_us;
    return writer_json_us(selection_target(&s, index));
}

static json_t *column_value(const struct column *c, uint64_t index, const struct report *r,
                            unsigned needs, const struct column_sound *sound)
{
    bool colours = (needs & STRIP_CLUSTERS) && c->cluster;
    bool unknown = column_untold(c, index);
    json_t *value =
        json_pack("{so so}", "frame", unknown ? json_null() : json_integer((json_int_t)c->frame),
                  "time", unknown ? json_null() : writer_json_us(c->time_us));
    if (!value)
        return NULL;
    int failed = r->analysis.selection.keyframes
                     ? json_object_set_new(value, "wanted", wanted_value(r, index))
                     : 0;
    if (c->status == COLUMN_MISSING) {
        failed |= json_object_set_new(value, "missing", json_true());
        if (c->transparent)
            failed |= json_object_set_new(value, "transparent", json_true());
    } else {
        if (c->status == COLUMN_DAMAGED)
            failed |= json_object_set_new(value, "damaged", json_true());
        failed |= json_object_set_new(
            value, "average", json_pack("[iii]", c->average[0], c->average[1], c->average[2]));
        if (needs & STRIP_DOMINANT)
            failed |= put_modes(value, c, r);
        if (colours)
            failed |= json_object_set_new(value, "colours", colours_value(c->cluster, c->clusters));
        if (colours && r->picture.steady > 0)
            failed |= json_object_set_new(value, "chosen", json_integer(c->chosen));
    }
    failed |= json_put_sound(value, sound, index);
    if (failed) {
        json_decref(value);
        return NULL;
    }
    return value;
}

/* Writes one line per column. Only the objects of one column are in memory at a time. */
static bool put_columns(FILE *f, const struct report *r, unsigned needs,
                        const struct column_sound *sound)
{
    if (fputs(",\n\"columns\": [", f) == EOF)
        return false;
    for (uint64_t i = 0; i < r->count; i++) {
        const struct column *c = columns_get(r->columns, i);
        if (interrupted() || fputs(i == 0 ? "\n" : ",\n", f) == EOF ||
            !writer_json_put(f, column_value(c, i, r, needs, sound)))
            return false;
    }
    return fputs("\n]", f) != EOF;
}

/* Writes one line per shot, if shots were found. */
static bool put_shots(FILE *f, const struct shots *shots)
{
    bool ok = !shots || fputs(",\n\"shots\": [", f) != EOF;
    for (size_t i = 0; ok && shots && i < shots->count; i++)
        ok = fputs(i == 0 ? "\n" : ",\n", f) != EOF &&
             writer_json_put(f, json_shot_value(&shots->shot[i], i + 1));
    return ok && (!shots || fputs("\n]", f) != EOF);
}

/* Writes the columns, and before them the film's sound if a mode shows it. */
static bool put_film(FILE *f, const struct report *r, unsigned needs, struct err *e)
{
    struct column_sound sound = {.sound = NULL};
    if (!(needs & STRIP_SOUND))
        return put_columns(f, r, needs, &sound);
    bool done = column_sound_open(&sound, r, e) && put_key(f, "sound", json_sound_value(r)) &&
                put_columns(f, r, needs, &sound);
    column_sound_close(&sound);
    return done;
}

static json_t *warnings_value(const struct report *r)
{
    json_t *list = json_array();
    for (int i = 0; i < r->run.warnings; i++)
        list = writer_json_append(list, writer_json_bytes(r->run.warning[i]));
    return list;
}

/* Returns the counts of frames that never reached a decoder, selected or not. */
static json_t *lost_value(const struct report *r)
{
    const struct decode_counts *c = &r->run.counts;
    return json_pack("{sI sI sI}", "unreadable", (json_int_t)c->unreadable, "vanished",
                     (json_int_t)c->dropped, "lead_in", (json_int_t)c->lead_in);
}

/* Returns the crop rectangles in the syntax of --crop, in the displayed frame. */
static json_t *crop_value(const struct report *r)
{
    json_t *list = json_array();
    for (int i = 0; i < r->analysis.crop.count; i++) {
        char text[CROP_TEXT];
        crop_shown_text(&r->analysis.crop, i, r->film->orientation, text);
        list = writer_json_append(list, json_string(text));
    }
    return list;
}

/* A key of the outermost object. A value that is not wanted may be NULL. */
struct pair {
    const char *key;
    bool wanted;
    json_t *value;
};

/* Writes the wanted pairs and releases all values. */
static bool put_pairs(FILE *f, const struct pair *pair, size_t pairs)
{
    bool ok = true;
    for (size_t i = 0; i < pairs; i++) {
        if (ok && pair[i].wanted)
            ok = put_key(f, pair[i].key, pair[i].value);
        else
            json_decref(pair[i].value);
    }
    return ok;
}

static bool put_head(FILE *f, const struct report *r)
{
    const struct kmeans_params *k = &r->analysis.kmeans;
    const struct light_rule *l = &r->analysis.light;
    bool hdr = r->film->transfer != TRANSFER_SDR;
    const struct pair head[] = {
        {"version", true, json_string(BARCODE_VERSION)},
        {"format", true, json_integer(JSON_FORMAT)},
        {"fingerprint", r->id.fingerprint[0] != 0, json_string(r->id.fingerprint)},
        {"film", true, film_value(r)},
        {"selection", true, selection_value(&r->analysis)},
        {"size", true, json_pack("[ii]", r->analysis.width, r->analysis.height)},
        {"crop", r->analysis.crop.count > 0, crop_value(r)},
        {"tone_map", hdr, json_string(light_map_name(l->map))},
        {"hdr_peak", hdr && l->map != TONE_OFF, json_integer(l->peak)},
        {"primaries", r->analysis.primaries != NULL, json_string(r->analysis.primaries)},
        {"light", l->linear, json_string("linear")},
        {"engine", true, writer_json_bytes(r->run.engine)},
        {"decode", true, writer_json_bytes(r->run.decode)},
        {"isa", true, writer_json_bytes(r->run.isa)},
        {"cache", true, writer_json_bytes(r->run.cache)},
        {"threads", true, json_integer(r->run.threads)},
        {"k", true, json_integer(k->k)},
        {"n_init", true, json_integer(k->n_init)},
        {"race", true, json_boolean(k->race)},
        {"init", true, json_string(kmeans_init_name(k->init))},
        {"max_iter", true, json_integer(k->max_iter)},
        {"seed", true, seed_value(k->seed)},
        {"steady", r->picture.steady != 0, json_integer(r->picture.steady)},
    };
    return put_pairs(f, head, sizeof head / sizeof *head);
}

static bool put_tail(FILE *f, const struct report *r)
{
    const struct decode_counts *c = &r->run.counts;
    const struct pair tail[] = {
        {"missing", true, json_integer((json_int_t)r->missing)},
        {"lost", c->unreadable + c->dropped + c->lead_in > 0, lost_value(r)},
        {"warnings", true, warnings_value(r)},
        {"stages", true, stages_value(&r->run.times)},
    };
    return put_pairs(f, tail, sizeof tail / sizeof *tail) && fputs("\n}\n", f) != EOF;
}

static bool write_json(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    /* What another output needs of the columns is not written, because the options fingerprint does
     * not contain it. */
    if (put_head(f, r) && put_film(f, r, strips_need(strips), e) && put_shots(f, r->media.shots) &&
        put_tail(f, r))
        return true;
    return writer_failed(e);
}

/* Returns the end of `word` in the first `size` bytes of `text`, or NULL if not found. */
static const char *after(const char *text, size_t size, const char *word)
{
    const char *at = memmem(text, size, word, strlen(word));
    return at ? at + strlen(word) : NULL;
}

/* Recognizes the first keys that put_head writes. */
static bool recognize_json(const uint8_t *head, size_t size, char film[FILM_ID_TEXT])
{
    static const char begin[] = "{\n\"version\": \"", id_key[] = ",\n\"film\": {\"id\":";
    const char *text = (const char *)head, *end = text + size;
    if (size < strlen(begin) || memcmp(text, begin, strlen(begin)) != 0)
        return false;
    const char *id = after(text, size, id_key),
               *quote = id && id < end && *id == '"' ? memchr(id + 1, '"', (size_t)(end - id) - 1)
                                                     : NULL;
    if (quote && quote - id <= FILM_ID_TEXT)
        snprintf(film, FILM_ID_TEXT, "%.*s", (int)(quote - id - 1), id + 1);
    return id != NULL;
}

/* Copies the string after `key` without its quotes, unescaped. Leaves `out` unchanged if there is
 * none or it does not fit. */
static void copy_string(const char *text, size_t size, const char *key, char *out, size_t room)
{
    const char *begin = after(text, size, key), *end = text + size;
    const char *quote = begin ? memchr(begin, '"', (size_t)(end - begin)) : NULL;
    if (quote && (size_t)(quote - begin) < room)
        snprintf(out, room, "%.*s", (int)(quote - begin), begin);
}

/* Returns the number at `text`, or 0 if it is no side of analysis frames. */
static int read_side(const char *text, char **end)
{
    long side = strtol(text, end, 10);
    return side > 0 && side <= 65536 ? (int)side : 0;
}

/* Counts the columns, one per line, and reads the analysis size. */
static bool count_columns(FILE *f, struct writer_metadata *metadata)
{
    static const char size[] = "\"size\": [";
    char *line = NULL;
    size_t room = 0;
    bool inside = false;
    rewind(f);
    while (getline(&line, &room, f) > 0 && (!inside || *line == '{')) {
        metadata->columns += inside;
        inside = inside || strcmp(line, "\"columns\": [\n") == 0;
        if (strncmp(line, size, strlen(size)) == 0) {
            char *end;
            metadata->width = read_side(line + strlen(size), &end);
            metadata->height = *end == ',' ? read_side(end + 1, &end) : 0;
        }
    }
    free(line);
    return metadata->columns == 0 || (metadata->width > 0 && metadata->height > 0);
}

/* Checks the beginning and the end of the file, which is written from front to back. */
static bool read_json_metadata(FILE *f, struct writer_metadata *metadata)
{
    char head[WRITER_HEAD], tail[3];
    size_t size = fread(head, 1, sizeof head, f);
    if (!recognize_json((const uint8_t *)head, size, metadata->film))
        return false;
    copy_string(head, size, ",\n\"fingerprint\": \"", metadata->fingerprint,
                sizeof metadata->fingerprint);
    return fseek(f, -(long)sizeof tail, SEEK_END) == 0 &&
           fread(tail, 1, sizeof tail, f) == sizeof tail && memcmp(tail, "\n}\n", 3) == 0 &&
           count_columns(f, metadata);
}

/* No ending: -o x.json is refused, and --json writes JSON. */
const struct writer writer_json = {.name = "json",
                                   .title = "JSON",
                                   .has_times = true,
                                   .recognizes = recognize_json,
                                   .read_metadata = read_json_metadata,
                                   .write = write_json};

/* ---- --bench: times, counts, frames/s, peak memory ---- */

static json_t *counts_value(const struct decode_counts *c)
{
    return json_pack(
        "{sI sI sI sI sI sI sI sI sI sI sI sI sI sI sI sI sI sI}", "packets",
        (json_int_t)c->packets, "displayed", (json_int_t)c->displayed, "sent", (json_int_t)c->sent,
        "decoded", (json_int_t)c->decoded, "hardware", (json_int_t)c->hardware, "fallbacks",
        (json_int_t)c->fallbacks, "runs", (json_int_t)c->chunks, "skipped_runs",
        (json_int_t)c->skipped_chunks, "redone_runs", (json_int_t)c->redone_chunks, "taken_over",
        (json_int_t)c->reused, "flushes", (json_int_t)c->flushes, "separators",
        (json_int_t)c->idr_splices, "decode_errors", (json_int_t)c->decode_errors, "lost",
        (json_int_t)c->lost, "damaged", (json_int_t)c->damaged, "keys", (json_int_t)c->keys,
        "keys_faulty", (json_int_t)c->bad_keys, "bytes_read", (json_int_t)c->bytes_read);
}

/* Returns the parts of the wall time, which follow one another and add up to it. */
static json_t *wall_value(const struct decode_times *t)
{
    double known = t->start_up + t->engine_begin + t->pass + t->engine_finish + t->write;
    return json_pack("{so so so so so so}", "start_up", writer_json_seconds(t->start_up),
                     "engine_begin", writer_json_seconds(t->engine_begin), "staging",
                     writer_json_seconds(t->pass), "engine_finish",
                     writer_json_seconds(t->engine_finish), "write", writer_json_seconds(t->write),
                     "rest", writer_json_seconds(t->wall > known ? t->wall - known : 0));
}

/* Returns how busy each kind of thread was, as shares of the time of the decode pass. */
static json_t *busy_value(const struct decode_times *t)
{
    double pass = t->pass > 0 ? t->pass : 1;
    return json_pack("{so so so so}", "reader", writer_json_seconds(t->demux / pass), "device",
                     writer_json_seconds(t->device_busy), "software",
                     writer_json_seconds(t->software_busy), "cluster",
                     writer_json_seconds(t->cluster / pass));
}

/* Returns a number per second of wall time, or null if no time is known. */
static json_t *per_second(uint64_t number, double wall)
{
    return wall > 0 ? writer_json_seconds((double)number / wall) : json_null();
}

static bool write_bench(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    (void)strips;
    json_t *value = json_pack(
        "{ss so so so so so si sI sI so so so sI so so so so}", "version", BARCODE_VERSION, "film",
        writer_json_bytes(r->film->path), "engine", writer_json_bytes(r->run.engine), "decode",
        writer_json_bytes(r->run.decode), "isa", writer_json_bytes(r->run.isa), "cache",
        writer_json_bytes(r->run.cache), "threads", r->run.threads, "columns", (json_int_t)r->count,
        "missing", (json_int_t)r->missing, "frames_per_second",
        per_second(r->run.counts.displayed, r->run.times.wall), "columns_per_second",
        per_second(r->count, r->run.times.wall), "cpu_seconds",
        writer_json_seconds(clock_cpu_seconds()), "peak_memory", (json_int_t)clock_peak_memory(),
        "stages", stages_value(&r->run.times), "wall", wall_value(&r->run.times), "busy",
        busy_value(&r->run.times), "counts", counts_value(&r->run.counts));
    bool done = writer_json_put(f, value) && fputs("\n", f) != EOF;
    return done || writer_failed(e);
}

const struct writer writer_bench = {
    .name = "bench", .title = "JSON", .one_line = true, .has_times = true, .write = write_bench};
