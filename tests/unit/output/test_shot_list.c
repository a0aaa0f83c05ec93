#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "output/modes/shot_columns.h"
#include "output/writer.h"
#include "shots/shots.h"
#include "strips.h"

/* A letter of two bytes, a line's end, and what would be a provenance comment. */
static char name[] = "/a b/\xc3\xa9\n barcode:film=1 columns=1 parts=0 fingerprint=x.mkv";

/* Three shots of a film of 29.97 frames per second, whose video begins after its sound. */
static struct shot shot[] = {
    {0, 1800, 100000, 60160000, SHOT_CUT, 0, {10, 20, 30}},
    {1800, 30, 60160000, 61161000, SHOT_FADE, 24, {0, 120, 220}},
    {1830, 3, 61161000, 61261100, SHOT_DISSOLVE, 12, {0, 0, 0}},
};
static const struct shots shots = {shot, 3};

/* A column in the first and one in the second shot; none in the third. */
static struct report scene(struct film *film)
{
    struct err e = ERR_INIT;
    struct columns *c = columns_open(2, 0, &e);
    for (uint64_t i = 0; i < 2; i++) {
        struct column *column = columns_at(c, i, &e);
        column->frame = i * 1800;
        column->status = COLUMN_OK;
        column->clusters = i == 0 ? 2 : 1;
        column->cluster[0] = (struct cluster){{220, 40, 10}, 300};
        column->cluster[1] = (struct cluster){{0, 0, 250}, 100};
    }
    *film = (struct film){.path = name, .rate_num = 30000, .rate_den = 1001};
    film->length = (struct film_length){.start_us = 100000, .duration_us = -1, .frames = -1};
    return (struct report){.film = film,
                           .name = "a=b, c",
                           .id.film_id = "9-ab",
                           .id.fingerprint = "r=1",
                           .analysis.kmeans = {2, 3, 50, INIT_SCALABLE, 0, true},
                           .columns = c,
                           .count = 2,
                           .analysis.width = 32,
                           .analysis.height = 18,
                           .run.threads = 1,
                           .media.shots = &shots};
}

/* Returns the scene in this format, which the caller frees. */
static char *list_as(const char *writer, const char *mode, bool drop_frame, size_t *size)
{
    struct film film;
    struct report r = scene(&film);
    struct columns *columns = shot_columns(&r, &shots, NULL);
    assert_non_null(columns);
    r.drop_frame = drop_frame;
    r.media.shot_columns = columns;
    char *bytes = written(writer, &r, alone(mode), size);
    columns_free(&columns);
    free_columns(&r);
    return bytes;
}

static void expect(const char *writer, const char *mode, bool drop_frame, const char *want)
{
    size_t size;
    char *got = list_as(writer, mode, drop_frame, &size);
    assert_string_equal(got, want);
    free(got);
}

#define MARK "barcode:film=9-ab partial=no columns=2 size=32x18 parts=0 fingerprint=r=1"
#define FILM "\xc3\xa9? barcode:film=1 columns=1 parts=0 fingerprint=x.mkv"
#define HEAD \
    "shot,first_frame,last_frame,frames,start,end,length,timecode,transition,transition_frames," \
    "average,film,title,file"
/* layout_title leaves out folder and ending. */
#define NAMES "9-ab," TITLE ",\"a=b, c\""
#define TITLE "\xc3\xa9? barcode:film=1 columns=1 parts=0 fingerprint=x"

TEST(csv)
{
    expect("shots-csv", "kmeans", false,
           HEAD ",colour_1,share_1,colour_2,share_2\r\n"
                "1,0,1799,1800,0.100000,60.160000,60.060000,00:00:00:00,cut,0,#0a141e," NAMES
                ",#dc280a,0.750000,#0000fa,0.250000\r\n"
                "2,1800,1829,30,60.160000,61.161000,1.001000,00:01:00:00,fade,24,#0078dc," NAMES
                ",#dc280a,1.000000,,\r\n"
                "3,1830,1832,3,61.161000,61.261100,0.100100,00:01:01:00,dissolve,12,#000000," NAMES
                ",#000000,1.000000,,\r\n");
    expect("shots-csv", "average", true,
           HEAD "\r\n"
                "1,0,1799,1800,0.100000,60.160000,60.060000,00:00:00;00,cut,0,#0a141e," NAMES "\r\n"
                "2,1800,1829,30,60.160000,61.161000,1.001000,00:01:00;02,fade,24,#0078dc," NAMES
                "\r\n"
                "3,1830,1832,3,61.161000,61.261100,0.100100,00:01:01;02,dissolve,12,#000000," NAMES
                "\r\n");
}

#define SHOT_1 \
    "{\"shot\":1,\"first_frame\":0,\"last_frame\":1799,\"frames\":1800,\"start\":0.1," \
    "\"end\":60.16,\"length\":60.06,\"transition\":\"cut\",\"transition_frames\":0," \
    "\"average\":[10,20,30]"

TEST(json)
{
    size_t size;
    char *got = list_as("shots-json", "kmeans", false, &size);
    static const char want[] =
        "{\n\"shot_list\": \"" MARK "\",\n\"name\": \"" FILM "\",\n\"shots\": [\n" SHOT_1
        ",\"timecode\":\"00:00:00:00\",\"colours\":["
        "{\"rgb\":[220,40,10],\"share\":0.75},"
        "{\"rgb\":[0,0,250],\"share\":0.25}]},\n{\"shot\":2,";
    assert_memory_equal(got, want, sizeof want - 1);
    assert_non_null(strstr(
        got,
        "\"timecode\":\"00:01:01:00\",\"colours\":[{\"rgb\":[0,0,0],\"share\":1.0}]}\n]\n}\n"));
    free(got);
    got = list_as("json", "average", false, &size);
    assert_non_null(strstr(got, "]}\n],\n\"shots\": [\n" SHOT_1 "},\n{\"shot\":2,") ? "" : NULL);
    free(got);
}

/* Writes the events as they are wanted: the first one has the provenance comment. */
static void expect_edl(const char *mode, bool drop_frame, const char *time[4],
                       const char *colour[3])
{
    static char want[4096];
    size_t n = (size_t)snprintf(want, sizeof want, "TITLE: " FILM "\nFCM: %s\n",
                                drop_frame ? "DROP FRAME" : "NON-DROP FRAME");
    for (int i = 0; i < 3; i++)
        n += (size_t)snprintf(want + n, sizeof want - n,
                              "\n00%d  AX       V     C        %s %s %s %s\n"
                              " |C:ResolveColor%s |M:Shot %d |D:1\n%s* FROM CLIP NAME: " FILM "\n",
                              i + 1, time[i], time[i + 1], time[i], time[i + 1], colour[i], i + 1,
                              i == 0 ? "* " MARK "\n" : "");
    snprintf(want + n, sizeof want - n, "\n* END\n");
    expect("shots-edl", mode, drop_frame, want);
}

/* The first cluster's colour, or without clusters, or of a shot without columns, the mean. */
TEST(edl)
{
    expect_edl("kmeans", false,
               (const char *[]){"00:00:00:00", "00:01:00:00", "00:01:01:00", "00:01:01:03"},
               (const char *[]){"Red", "Red", "Cocoa"});
    expect_edl("average", true,
               (const char *[]){"00:00:00;00", "00:01:00;02", "00:01:01;02", "00:01:01;05"},
               (const char *[]){"Cocoa", "Blue", "Cocoa"});
}

#define RATE "\"rate\":29.970029970029969,"
#define TIME(value) "{\"OTIO_SCHEMA\":\"RationalTime.1\"," RATE "\"value\":" value "}"
#define RANGE(start, duration) \
    "{\"OTIO_SCHEMA\":\"TimeRange.1\",\"start_time\":" TIME(start) ",\"duration\":" TIME( \
        duration) "}"

TEST(otio)
{
    size_t size;
    char *got = list_as("shots-otio", "average", true, &size);
    static const char want[] =
        "{\n\"OTIO_SCHEMA\": \"Timeline.1\",\n\"metadata\": {\"barcode\": \"" MARK
        "\"},\n\"name\": \"" FILM "\",\n";
    assert_memory_equal(got, want, sizeof want - 1);
    assert_non_null(strstr(
        got,
        ",\n{\"OTIO_SCHEMA\":\"Clip.2\",\"name\":\"Shot 2\",\"source_range\":" RANGE(
            "1800.0",
            "30.0") ",\"media_references\":{\"DEFAULT_MEDIA\":{\"OTIO_SCHEMA\":"
                    "\"ExternalReference.1\",\"target_url\":\"file:///a%20b/"
                    "%C3%A9%0A%20barcode%3Afilm%3D1"
                    "%20columns%3D1%20parts%3D0%20fingerprint%3Dx.mkv\",\"available_range\":" RANGE(
                        "0.0",
                        "1833.0") "}},\"active_media_reference_key\":\"DEFAULT_MEDIA\"},\n"));
    free(got);
}

TEST(chapters)
{
    expect("shots-ffmeta", "average", false,
           ";FFMETADATA1\n;" MARK "\n"
           "[CHAPTER]\nTIMEBASE=1/1000000\nSTART=100000\nEND=60160000\ntitle=Shot 1\n"
           "[CHAPTER]\nTIMEBASE=1/1000000\nSTART=60160000\nEND=61161000\ntitle=Shot 2\n"
           "[CHAPTER]\nTIMEBASE=1/1000000\nSTART=61161000\nEND=61261100\ntitle=Shot 3\n;end\n");
    size_t size;
    char *got = list_as("shots-xml", "average", false, &size);
    static const char want[] =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- " MARK "\n-->\n<Chapters>\n"
        "  <EditionEntry>\n    <ChapterAtom>\n"
        "      <ChapterTimeStart>00:00:00.100000000</ChapterTimeStart>\n"
        "      <ChapterTimeEnd>00:01:00.160000000</ChapterTimeEnd>\n"
        "      <ChapterDisplay>\n        <ChapterString>Shot 1</ChapterString>\n";
    assert_memory_equal(got, want, sizeof want - 1);
    free(got);
}

TEST(cues)
{
    expect("shots-vtt", "average", false,
           "WEBVTT Shots\n\nNOTE\n" MARK "\n\n"
           "00:00:00.100 --> 00:01:00.160\nShot 1\n\n00:01:00.160 --> 00:01:01.161\nShot 2\n\n"
           "00:01:01.161 --> 00:01:01.262\nShot 3\n\nNOTE end\n");
}

static const char *const all[] = {"shots-json", "shots-edl", "shots-otio", "shots-ffmeta",
                                  "shots-xml",  "shots-vtt", "shots-csv"};
enum { ALL = sizeof all / sizeof *all };

TEST(told)
{
    for (size_t i = 0; i < ALL; i++) {
        const struct writer *w = writer_find(all[i]);
        size_t size;
        char *got = list_as(all[i], "kmeans", false, &size);
        assert_string_equal(writer_option(w), "shot-list");
        assert_true(writer_by_ending(writer_usual_ending(w)) != w);
        expect_recognized(w, got, size);
        free(got);
    }
}

TEST(full_disk)
{
    struct film film;
    struct report r = scene(&film);
    for (size_t i = 0; i < ALL; i++)
        expect_full_disk(all[i], &r, alone("average"));
    free_columns(&r);
}
