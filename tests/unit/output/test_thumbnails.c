#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#include "folder.h"
#include "output/formats/thumbs.h"
#include "output/writer.h"
#include "strips.h"

enum { W = 8, H = 4, COUNT = 130 };

static struct film film;
static struct report report;
static struct thumbs *thumbs;

static int setup(void **state)
{
    struct err e = ERR_INIT;
    thumbs = thumbs_open(W, H, W, H, 1000, &e);
    for (uint64_t i = 0; i < COUNT; i++) {
        uint8_t rgb[W * H * 3];
        memset(rgb, (int)i, sizeof rgb);
        thumbs_put(
            thumbs,
            &(struct frame_tag){
                .column = i, .repeat = 1, .frame = i, .time_us = (int64_t)i * 60500123 + 5000},
            rgb, &e);
    }
    film = (struct film){.length.duration_us = (int64_t)COUNT * 60500123};
    report = (struct report){
        .film = &film,
        .id.film_id = "9-ab",
        .id.fingerprint = "r=1",
        .count = COUNT,
        .analysis.width = W,
        .analysis.height = H,
        .media.thumbs = thumbs,
        .analysis.selection = {.kind = SELECT_EVERY, .every = 1, .end_us = INT64_MAX}};
    return enter(state);
}

static int teardown(void **state)
{
    thumbs_free(&thumbs);
    return leave(state);
}

static bool save(const char *path, struct err *e)
{
    err_clear(e);
    return writer_save(&writer_thumbnails, &report, alone("average"), path, e);
}

static int files(void)
{
    int count = 0;
    DIR *d = opendir(".");
    for (struct dirent *entry; (entry = readdir(d));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(d);
    return count;
}

static char *text_of(const char *path)
{
    static char text[1 << 16];
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return text;
}

TEST_WITH(cues, setup, teardown)
{
    struct err e = ERR_INIT;
    assert_ok(save("a b#\xc3\xa9.x.vtt", &e), &e);
    assert_int_equal(files(), 3);
    assert_int_equal(
        access("a b#\xc3\xa9.x-001.jpg", R_OK) | access("a b#\xc3\xa9.x-002.jpg", R_OK), 0);
    char *text = text_of("a b#\xc3\xa9.x.vtt");
    static const char head[] = "WEBVTT\n\nNOTE\nbarcode:film=9-ab partial=no columns=130 size=8x4 "
                               "parts=2 fingerprint=r=1\n\n00:00:00.000 --> 00:01:00.505\n"
                               "a%20b%23%C3%A9.x-001.jpg#xywh=0,0,8,4\n\n00:01:00.505 --> "
                               "00:02:01.005\na%20b%23%C3%A9.x-001.jpg#xywh=8,0,8,4\n";
    assert_memory_equal(text, head, strlen(head));
    assert_non_null(
        strstr(text, "\n01:40:50.017 --> 01:41:50.517\na%20b%23%C3%A9.x-002.jpg#xywh=0,0,8,4\n"));
    assert_non_null(strstr(text, "-002.jpg#xywh=72,8,8,4\n\nNOTE end\n"));
    assert_string_equal(strstr(text, "NOTE end"), "NOTE end\n");
}

TEST_WITH(is_told, setup, teardown)
{
    struct err e = ERR_INIT;
    struct writer_metadata metadata;
    char shown[FILM_ID_TEXT];
    assert_true(save("x.vtt", &e));
    assert_true(writer_made(&writer_thumbnails, "x.vtt", shown));
    assert_string_equal(shown, "9-ab");
    assert_true(writer_made(&writer_thumbnails, "x-002.jpg", shown));
    assert_string_equal(shown, "9-ab");
    assert_true(writer_read_metadata(&writer_thumbnails, "x.vtt", &metadata));
    assert_string_equal(metadata.fingerprint, "r=1");
    assert_int_equal(metadata.parts, 2);
    assert_int_equal(truncate("x-002.jpg", 500), 0);
    /* a sheet is not whole */
    assert_false(writer_read_metadata(&writer_thumbnails, "x.vtt", &metadata));
    assert_true(save("x.vtt", &e));
    assert_true(writer_read_metadata(&writer_thumbnails, "x.vtt", &metadata));
    unlink("x-001.jpg");
    assert_false(writer_read_metadata(&writer_thumbnails, "x.vtt", &metadata));
}

TEST_WITH(failures, setup, teardown)
{
    struct err e = ERR_INIT;
    assert_false(save("nowhere/x.vtt", &e));
    assert_non_null(strstr(e.text, "cannot write 'nowhere/x-001.jpg'"));
    assert_int_equal(mkdir("x.vtt", 0700), 0);
    assert_false(save("x.vtt", &e));
    assert_int_equal(files(), 1); /* no sheet without its WebVTT */
    report.count = 0;
    assert_false(save("y.vtt", &e));
    assert_string_equal(e.text, "cannot write 'y.vtt': no frames for thumbnails");
    assert_int_equal(rmdir("x.vtt"), 0);
}
