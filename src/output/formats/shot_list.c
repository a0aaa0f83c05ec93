/* shot_list.c - the formats of --shot-list for tables, chapters and players. */
#include "shot_list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/text.h"
#include "output/modes/shot_columns.h"
#include "output/poster/labels.h"
#include "output/poster/layout.h"
#include "csv_fields.h"
#include "json.h"
#include "provenance.h"
#include "timecode.h"

/* ---- The main colours ---- */

const struct column *shot_colours(const struct report *r, struct strips strips, size_t i)
{
    const bool wanted = r->media.shot_columns && (strips_need(strips) & STRIP_CLUSTERS);
    const struct column *column = wanted ? columns_get(r->media.shot_columns, i) : NULL;
    return column && column->clusters > 0 ? column : NULL;
}

/* ---- CSV ---- */

static const char csv_begin[] = "shot,first_frame,last_frame,frames,start,end,length,timecode,"
                                "transition,transition_frames,average,film,title,file";

enum { CSV_FILM = 11 }; /* the number of the field `film` */

/* What the rows of a film have in common. */
struct shot_rows {
    FILE *f;
    const struct report *r;
    struct strips strips;
    int k; /* colours of a shot, at most */
    struct timecode timecode;
    char title[LAYOUT_TEXT], *file; /* plain text (text.h) */
};

static void put_row(struct shot_rows *s, size_t i)
{
    const struct shot *shot = &s->r->media.shots->shot[i];
    const struct column *column = shot_colours(s->r, s->strips, i);
    char timecode[TIMECODE_TEXT], hex[PAINT_HEX];
    timecode_text(&s->timecode, timecode_frame(&s->timecode, shot->start_us), timecode);
    fprintf(s->f, "%zu,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", i + 1, shot->frame,
            shot->frame + shot->frames - 1, shot->frames);
    csv_put_time(s->f, shot->start_us);
    fputc(',', s->f);
    csv_put_time(s->f, shot->end_us);
    fputc(',', s->f);
    csv_put_time(s->f, shot->end_us - shot->start_us);
    paint_text_hex(shot->mean, hex);
    fprintf(s->f, ",%s,%s,%" PRIu32 ",%s,%s,", timecode, shot_transition_name(shot->begins_by),
            shot->transition_frames, hex, s->r->id.film_id);
    csv_put_text(s->f, s->title);
    fputc(',', s->f);
    csv_put_text(s->f, s->file);
    for (int k = 1; k <= s->k; k++) {
        const bool has = column && k <= column->clusters;
        if (has)
            paint_text_hex(column->cluster[k - 1].rgb, hex);
        fprintf(s->f, ",%s,", has ? hex : "");
        if (has)
            csv_put_share(s->f, column, k);
    }
    fputs("\r\n", s->f);
}

static void put_rows(struct shot_rows *s)
{
    fputs(csv_begin, s->f);
    for (int k = 1; k <= s->k; k++)
        fprintf(s->f, ",colour_%d,share_%d", k, k);
    fputs("\r\n", s->f);
    for (size_t i = 0; i < s->r->media.shots->count; i++)
        put_row(s, i);
}

/* Writes a header and a row per shot: RFC 4180, as csv.c does. */
static bool write_csv(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    const char *name = r->name ? r->name : r->film->path;
    struct shot_rows s = {.f = f,
                          .r = r,
                          .strips = strips,
                          .k = strips_need(strips) & STRIP_CLUSTERS ? r->analysis.kmeans.k : 0,
                          .timecode = timecode_of_film(r->film, r->drop_frame),
                          .file = strdup(name)};
    if (!s.file)
        return err_memory(e, strlen(name));
    text_make_plain(s.file);
    layout_title(r, s.title);
    text_make_plain(s.title);
    errno = 0;
    put_rows(&s);
    free(s.file);
    return !ferror(f) || writer_failed(e);
}

static bool recognize_csv(const uint8_t *head, size_t size, char film[FILM_ID_TEXT])
{
    const char *text = (const char *)head, *end = text + size;
    if (size < sizeof csv_begin - 1 || memcmp(text, csv_begin, sizeof csv_begin - 1) != 0)
        return false;
    const char *row = memchr(text, '\n', size);
    return !row || csv_read_film(row + 1, end, CSV_FILM, film);
}

SHOT_WRITER(csv, "CSV of shots", .recognizes = recognize_csv);

/* ---- JSON ---- */

static const char json_begin[] = "{\n\"shot_list\": ", json_end[] = "\n]\n}\n";

/* Adds timecode and main colours to what json_shot_value has. */
static json_t *shot_value(const struct report *r, struct strips strips, const struct timecode *t,
                          size_t i)
{
    const struct shot *shot = &r->media.shots->shot[i];
    const struct column *column = shot_colours(r, strips, i);
    json_t *value = json_shot_value(shot, i + 1), *list = json_array();
    char timecode[TIMECODE_TEXT];
    double total = 0;
    timecode_text(t, timecode_frame(t, shot->start_us), timecode);
    for (int k = 0; column && k < column->clusters; k++)
        total += column->cluster[k].count;
    for (int k = 0; column && k < column->clusters; k++) {
        const struct cluster *c = &column->cluster[k];
        list = writer_json_append(
            list, json_pack("{s[iii] so}", "rgb", c->rgb[0], c->rgb[1], c->rgb[2], "share",
                            writer_json_seconds(total > 0 ? c->count / total : 1)));
    }
    if (json_object_set_new(value, "timecode", json_string(timecode)) |
        json_object_set_new(value, "colours", list)) {
        json_decref(value);
        return NULL;
    }
    return value;
}

/* Writes one key or one shot per line (shots.schema.json). The first key has the provenance. */
static bool write_json(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    const struct timecode t = timecode_of_film(r->film, r->drop_frame);
    char name[LAYOUT_TEXT], provenance[PROVENANCE_TEXT];
    paint_text_utf8(paint_text_file_name(r->film->path), true, name, sizeof name);
    provenance_text(r, 0, provenance);
    bool ok = fputs(json_begin, f) != EOF && writer_json_put(f, json_string(provenance)) &&
              fputs(",\n\"name\": ", f) != EOF && writer_json_put(f, writer_json_bytes(name)) &&
              fputs(",\n\"shots\": [", f) != EOF;
    for (size_t i = 0; ok && i < r->media.shots->count; i++)
        ok = fputs(i == 0 ? "\n" : ",\n", f) != EOF &&
             writer_json_put(f, shot_value(r, strips, &t, i));
    return (ok && fputs(json_end, f) != EOF) || writer_failed(e);
}

SHOT_WRITER(json, "JSON of shots", .begin = json_begin, .end = json_end);

/* ---- Chapters and cues ---- */

typedef void put_shot(FILE *f, const struct shot *s, size_t number);

/* Writes a block per shot. The provenance comment is between `rest` and `after`. */
static bool write_text(const struct report *r, const char *head, const char *rest,
                       const char *after, put_shot *put, const char *end, FILE *f, struct err *e)
{
    char provenance[PROVENANCE_TEXT];
    provenance_text(r, 0, provenance);
    errno = 0;
    fprintf(f, "%s%s%s%s", head, rest, provenance, after);
    for (size_t i = 0; i < r->media.shots->count; i++)
        put(f, &r->media.shots->shot[i], i + 1);
    fputs(end, f);
    return !ferror(f) || writer_failed(e);
}

/* Defines the writer of such a format. Files of it begin with `head`, and then have `rest`. */
#define TEXT_WRITER(format, shown, head, rest, after, put, tail) \
    static bool write_##format(const struct report *r, struct strips strips, FILE *f, \
                               struct err *e) \
    { \
        (void)strips; \
        return write_text(r, head, rest, after, put, tail, f, e); \
    } \
    SHOT_WRITER(format, shown, .modeless = true, .begin = (head), .end = (tail))

/* Writes "01:02:03", then the rest of the second with `digits` digits. */
static void put_clock(FILE *f, int64_t us, int digits)
{
    fprintf(f, "%02" PRId64 ":%02d:%02d.", us / 3600000000, (int)(us / 60000000 % 60),
            (int)(us / 1000000 % 60));
    if (digits == 3)
        fprintf(f, "%03d", (int)(us % 1000000 / 1000));
    else
        fprintf(f, "%06d000", (int)(us % 1000000));
}

/* FFmpeg's metadata (ffmpeg-formats, "Metadata"): a chapter per shot. */
static void put_ffmeta(FILE *f, const struct shot *s, size_t number)
{
    fprintf(f,
            "[CHAPTER]\nTIMEBASE=1/1000000\nSTART=%" PRId64 "\nEND=%" PRId64 "\ntitle=Shot %zu\n",
            s->start_us, s->end_us, number);
}

TEXT_WRITER(ffmeta, "chapters of FFmpeg", ";FFMETADATA1\n", ";", "\n", put_ffmeta, ";end\n");

/* Matroska's chapters as XML, as mkvmerge reads them (matroska.org, "Chapters"). */
static void put_xml(FILE *f, const struct shot *s, size_t number)
{
    fputs("    <ChapterAtom>\n      <ChapterTimeStart>", f);
    put_clock(f, s->start_us, 9);
    fputs("</ChapterTimeStart>\n      <ChapterTimeEnd>", f);
    put_clock(f, s->end_us, 9);
    fprintf(f,
            "</ChapterTimeEnd>\n      <ChapterDisplay>\n"
            "        <ChapterString>Shot %zu</ChapterString>\n"
            "        <ChapterLanguage>eng</ChapterLanguage>\n"
            "      </ChapterDisplay>\n    </ChapterAtom>\n",
            number);
}

TEXT_WRITER(xml, "chapters of Matroska", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- ", "",
            "\n-->\n<Chapters>\n  <EditionEntry>\n", put_xml, "  </EditionEntry>\n</Chapters>\n");

/* Returns the time rounded up to a millisecond, so that the frame of that time is on the screen. */
static int64_t ceil_ms(int64_t us) { return (us + 999) / 1000 * 1000; }

/* WebVTT (W3C): a cue per shot. Its first line is not that of thumbnails (thumbnails.c). */
static void put_cue(FILE *f, const struct shot *s, size_t number)
{
    put_clock(f, ceil_ms(s->start_us), 3);
    fputs(" --> ", f);
    put_clock(f, ceil_ms(s->end_us), 3);
    fprintf(f, "\nShot %zu\n\n", number);
}

TEXT_WRITER(vtt, "WebVTT of shots", "WEBVTT Shots\n", "\nNOTE\n", "\n\n", put_cue, "NOTE end\n");
