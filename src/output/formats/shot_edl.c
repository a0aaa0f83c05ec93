/* shot_edl.c - the formats of --shot-list for editing programs: CMX 3600 and OpenTimelineIO. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "barcode/engine/colour.h"
#include "base/path.h"
#include "output/poster/labels.h"
#include "json.h"
#include "provenance.h"
#include "shot_list.h"
#include "timecode.h"

enum { FILM_NAME = 512, EDL_TITLE = 71 };

/* Fails for a film of several files: these formats would name the first one for all shots. */
static bool check_parts(const struct report *r, struct err *e)
{
    return !r->film->parts || err_set(e, ERR_FAILED, "the film is in several files");
}

/* Writes the film's file name: valid UTF-8, one line. */
static void film_name(const struct report *r, char *name, size_t size)
{
    paint_text_utf8(paint_text_file_name(r->film->path), true, name, size);
}

/* ---- Marker colours ---- */

/* The marker colours of DaVinci Resolve, about as it shows them. */
static const struct {
    const char *name;
    uint8_t rgb[3];
} marker[] = {
    {"Blue", {0, 127, 227}},       {"Cyan", {0, 205, 207}},     {"Green", {0, 172, 0}},
    {"Yellow", {240, 157, 0}},     {"Red", {224, 36, 1}},       {"Pink", {254, 68, 199}},
    {"Purple", {143, 19, 253}},    {"Fuchsia", {192, 46, 111}}, {"Rose", {254, 160, 184}},
    {"Lavender", {161, 147, 200}}, {"Sky", {146, 226, 253}},    {"Mint", {114, 219, 0}},
    {"Lemon", {220, 233, 90}},     {"Sand", {196, 145, 94}},    {"Cocoa", {110, 81, 67}},
    {"Cream", {245, 235, 225}},
};

/* Returns the name of the marker colour that is nearest in OKLab. */
static const char *nearest_marker(const uint16_t *root, const uint8_t rgb[3])
{
    const struct oklab at = oklab_of(srgb_linear, root, rgb);
    const char *nearest = NULL;
    int least = INT32_MAX;
    for (size_t i = 0; i < sizeof marker / sizeof *marker; i++) {
        const struct oklab m = oklab_of(srgb_linear, root, marker[i].rgb);
        const int l = at.l - m.l, a = at.a - m.a, b = at.b - m.b;
        const int distance = l * l + a * a + b * b;
        if (distance < least) {
            least = distance;
            nearest = marker[i].name;
        }
    }
    return nearest;
}

/* ---- CMX 3600 ---- */

static const char edl_begin[] = "TITLE: ", edl_end[] = "* END\n";

/*
 * Writes an event per shot, a cut from the film to the same time of the record, and behind it a
 * marker of one frame as DaVinci Resolve writes and reads them. Resolve's own markers are events
 * of one frame or of the marker's length; opentimelineio needs the shot's length, and accepts no
 * comment before the first event.
 */
static void put_events(const struct report *r, struct strips strips, const uint16_t *root, FILE *f)
{
    const struct timecode t = timecode_of_film(r->film, r->drop_frame);
    char title[EDL_TITLE], name[FILM_NAME], provenance[PROVENANCE_TEXT];
    film_name(r, title, sizeof title);
    film_name(r, name, sizeof name);
    provenance_text(r, 0, provenance);
    fprintf(f, "%s%s\nFCM: %sDROP FRAME\n", edl_begin, title, t.drop ? "" : "NON-");
    for (size_t i = 0; i < r->media.shots->count; i++) {
        const struct shot *shot = &r->media.shots->shot[i];
        const struct column *column = shot_colours(r, strips, i);
        const int64_t from = timecode_frame(&t, shot->start_us),
                      to = timecode_frame(&t, shot->end_us);
        fputc('\n', f);
        timecode_put_event(f, &t, i + 1, "AX", (const int64_t[]){from, to, from, to});
        fprintf(f, " |C:ResolveColor%s |M:Shot %zu |D:1\n",
                nearest_marker(root, column ? column->cluster[0].rgb : shot->mean), i + 1);
        if (i == 0)
            fprintf(f, "* %s\n", provenance);
        fprintf(f, "* FROM CLIP NAME: %s\n", name);
    }
    fprintf(f, "\n%s", edl_end);
}

static bool write_edl(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    const size_t bytes = OKLAB_ROOTS * sizeof(uint16_t);
    if (!check_parts(r, e))
        return false;
    uint16_t *root = malloc(bytes);
    if (!root)
        return err_memory(e, bytes);
    oklab_roots(root);
    errno = 0;
    put_events(r, strips, root, f);
    free(root);
    return !ferror(f) || writer_failed(e);
}

SHOT_WRITER(edl, "edit list", .begin = edl_begin, .end = edl_end);

/* ---- OpenTimelineIO: its JSON, without the library ---- */

static json_t *time_value(const struct timecode *t, int64_t frame)
{
    return json_pack("{ss sf sf}", "OTIO_SCHEMA", "RationalTime.1", "rate", t->rate, "value",
                     (double)frame);
}

static json_t *range_value(const struct timecode *t, int64_t from, int64_t to)
{
    return json_pack("{ss so so}", "OTIO_SCHEMA", "TimeRange.1", "start_time", time_value(t, from),
                     "duration", time_value(t, to - from));
}

/* Returns the film's path as a URL, which is relative if the path is. */
static json_t *url_value(const char *path)
{
    char text[4], *url = NULL;
    size_t size;
    FILE *f = open_memstream(&url, &size);
    if (!f)
        return NULL;
    fputs(*path == '/' ? "file://" : "", f);
    for (; *path; path++)
        fwrite(text, 1, path_url_byte(*path, text), f);
    json_t *value = fclose(f) == 0 ? json_string(url) : NULL;
    free(url);
    return value;
}

static json_t *clip_value(const struct report *r, const struct timecode *t, size_t i)
{
    const struct shots *shots = r->media.shots;
    const struct shot *shot = &shots->shot[i];
    char name[32];
    snprintf(name, sizeof name, "Shot %zu", i + 1);
    json_t *film =
        json_pack("{ss so so}", "OTIO_SCHEMA", "ExternalReference.1", "target_url",
                  url_value(r->film->path), "available_range",
                  range_value(t, 0, timecode_frame(t, shots->shot[shots->count - 1].end_us)));
    return json_pack(
        "{ss ss so s{so} ss}", "OTIO_SCHEMA", "Clip.2", "name", name, "source_range",
        range_value(t, timecode_frame(t, shot->start_us), timecode_frame(t, shot->end_us)),
        "media_references", "DEFAULT_MEDIA", film, "active_media_reference_key", "DEFAULT_MEDIA");
}

/* Writes a value on one line and releases it. Seventeen digits keep a rate such as 24000/1001. */
static bool put_exact(FILE *f, json_t *value)
{
    errno = value ? 0 : ENOMEM;
    const bool ok = value && json_dumpf(value, f, JSON_COMPACT | JSON_REAL_PRECISION(17)) == 0;
    json_decref(value);
    return ok;
}

static const char otio_begin[] =
    "{\n\"OTIO_SCHEMA\": \"Timeline.1\",\n\"metadata\": {\"barcode\": ",
                  otio_end[] = "\n]}]}\n}\n";

static bool write_otio(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    (void)strips;
    if (!check_parts(r, e))
        return false;
    const struct timecode t = timecode_of_film(r->film, false);
    char name[FILM_NAME], provenance[PROVENANCE_TEXT];
    film_name(r, name, sizeof name);
    provenance_text(r, 0, provenance);
    bool ok = fputs(otio_begin, f) != EOF && writer_json_put(f, json_string(provenance)) &&
              fputs("},\n\"name\": ", f) != EOF && writer_json_put(f, writer_json_bytes(name)) &&
              fputs(",\n\"global_start_time\": null,\n\"tracks\": {\"OTIO_SCHEMA\": \"Stack.1\", "
                    "\"name\": \"tracks\", \"children\": [\n{\"OTIO_SCHEMA\": \"Track.1\", "
                    "\"name\": \"Shots\", \"kind\": \"Video\", \"children\": [",
                    f) != EOF;
    for (size_t i = 0; ok && i < r->media.shots->count; i++)
        ok = fputs(i == 0 ? "\n" : ",\n", f) != EOF && put_exact(f, clip_value(r, &t, i));
    return (ok && fputs(otio_end, f) != EOF) || writer_failed(e);
}

SHOT_WRITER(otio, "OpenTimelineIO", .modeless = true, .begin = otio_begin, .end = otio_end);
