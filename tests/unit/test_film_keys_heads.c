/* test_film_keys_heads.c - which films are not to be read by their index, for their key frames go by headers of others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "barcode/selection.h"
#include "stage/film_keys.h"
#include "clip.h"

enum { GOP = 10, KEYS = CLIP_FRAMES / GOP, CHANGE = 7 };

static const uint8_t pps[] = {0x68, 0xce, 0x3c, 0x80};     /* number 0, of SPS 0, and none that x264 writes */
static uint8_t sps[256];
static size_t sps_size;

static void put_unit(uint8_t **to, const uint8_t *unit, size_t size)
{
    const uint8_t prefix[] = {0, 0, 0, (uint8_t)size};
    memcpy(*to, prefix, sizeof prefix);
    memcpy(*to + sizeof prefix, unit, size);
    *to += sizeof prefix + size;
}

/* Puts headers before the picture. */
static void bring(AVPacket *p, bool both)
{
    size_t more = 4 + sizeof pps + (both ? 4 + sps_size : 0), had = (size_t)p->size;
    assert_true(av_grow_packet(p, (int)more) >= 0);
    memmove(p->data + more, p->data, had);
    uint8_t *to = p->data;
    if (both)
        put_unit(&to, sps, sps_size);
    put_unit(&to, pps, sizeof pps);
}

static AVFormatContext *open_master(void)
{
    AVFormatContext *in = NULL;
    assert_true(avformat_open_input(&in, "master.mp4", NULL, NULL) == 0 && avformat_find_stream_info(in, NULL) >= 0);
    const uint8_t *avcc = in->streams[0]->codecpar->extradata;
    sps_size = (size_t)(avcc[6] << 8 | avcc[7]);
    assert_true(sps_size < sizeof sps);
    memcpy(sps, avcc + 8, sps_size);
    return in;
}

/* Lengths of units become start codes: an AVI has these. */
static void mark_starts(uint8_t *data, size_t size)
{
    for (size_t at = 0; at + 4 <= size;) {
        size_t unit = (size_t)data[at] << 24 | (size_t)data[at + 1] << 16 | (size_t)data[at + 2] << 8 | data[at + 3];
        memcpy(data + at, (const uint8_t[]){0, 0, 0, 1}, 4);
        at += 4 + unit;
    }
}

/* avcC's two units, likewise. */
static void mark_extradata(AVCodecParameters *c)
{
    uint8_t *avcc = c->extradata, *to = avcc;
    size_t last = 8 + sps_size + 1, size = (size_t)(avcc[last] << 8 | avcc[last + 1]);
    uint8_t unit[256];
    assert_true(size < sizeof unit);
    memcpy(unit, avcc + last + 2, size);
    put_unit(&to, sps, sps_size);
    put_unit(&to, unit, size);
    c->extradata_size = (int)(to - avcc);
    mark_starts(avcc, (size_t)c->extradata_size);
}

/* The film with other headers in its key frames from `from` to `to` alone. */
static void make(const char *name, int from, int to, bool both)
{
    AVFormatContext *in = open_master(), *out = NULL;
    AVPacket *p = av_packet_alloc();
    assert_true(p && avformat_alloc_output_context2(&out, NULL, NULL, name) >= 0);
    AVStream *s = avformat_new_stream(out, NULL);
    assert_true(s && avcodec_parameters_copy(s->codecpar, in->streams[0]->codecpar) >= 0);
    s->codecpar->codec_tag = 0;
    bool avi = strstr(name, ".avi");
    if (avi)
        mark_extradata(s->codecpar);
    s->time_base = in->streams[0]->time_base;
    assert_true(avio_open(&out->pb, name, AVIO_FLAG_WRITE) >= 0 && avformat_write_header(out, NULL) >= 0);
    for (int key = -1; av_read_frame(in, p) >= 0; av_packet_unref(p)) {
        key += p->flags & AV_PKT_FLAG_KEY;
        if (p->flags & AV_PKT_FLAG_KEY && key >= from && key <= to)
            bring(p, both);
        if (avi)
            mark_starts(p->data, (size_t)p->size);
        av_packet_rescale_ts(p, in->streams[0]->time_base, s->time_base);
        assert_true(av_interleaved_write_frame(out, p) >= 0);
    }
    assert_true(av_write_trailer(out) >= 0);
    avio_closep(&out->pb);
    avformat_free_context(out);
    avformat_close_input(&in);
    av_packet_free(&p);
}

/* The last key frame is named so many times more, as a hostile index may do it. */
static void repeat_last(struct key_index *x, size_t times)
{
    x->key = realloc(x->key, (x->count + times) * sizeof *x->key);
    assert_non_null(x->key);
    for (size_t i = 0; i < times; i++)
        x->key[x->count + i] = x->key[x->count - 1];
    x->count += times;
}

/* `path`: where its bytes are looked for. */
static bool needs_of(const char *name, const char *path, int64_t end_us, size_t repeats, uint64_t *looked)
{
    struct err e = ERR_INIT;
    AVFormatContext *format = NULL;
    struct film film, elsewhere;
    struct demux r;
    if (!film_av_open(name, &format, &film, &e) || !demux_open(&r, format, film.stream, &e))
        fail_msg("%s", e.text);
    elsewhere = film;
    elsewhere.path = (char *)path;
    struct key_reader k = {.demux = &r, .film = &elsewhere, .traits = r.traits, .keys.cursor.rule.end_us = end_us};
    assert_true(key_index_open(&k.index, key_index_kind(&r, &film), &r, &film, &e) && k.index.count == KEYS);
    repeat_last(&k.index, repeats);
    bool need = film_keys_need_headers(&k, &e);
    assert_int_equal(e.code, ERR_NONE);
    *looked = r.looked;
    key_index_close(&k.index);
    demux_close(&r);
    film_av_close(&format);
    free(film.path);
    return need;
}

static bool needs(const char *name, const char *path, int64_t end_us, uint64_t *looked)
{
    return needs_of(name, path, end_us, 0, looked);
}

static const char *const names[] = {"film.mp4", "film.mkv", "film.avi"};
enum { NAMES = sizeof names / sizeof *names, PAGES = KEYS * 2 * 4096 };

static void films_that_never_change(void **state)
{
    (void)state;
    uint64_t looked;
    for (int i = 0; i < NAMES; i++) {
        make(names[i], KEYS, KEYS, true);
        assert_false(needs(names[i], names[i], INT64_MAX, &looked));
        assert_in_range(looked, KEYS * 512, PAGES + KEYS * 512);
    }
}

static void a_change_that_is_said_once(void **state)
{
    (void)state;
    uint64_t looked;
    for (int i = 0; i < NAMES; i++) {
        make(names[i], CHANGE, CHANGE, true);
        assert_true(needs(names[i], names[i], INT64_MAX, &looked));
        assert_in_range(looked, 512, PAGES / 2);            /* up to the first one that lacks it */
        /* Read with the film's beginning: of a Matroska that goes before, and nobody did it here. */
        make(names[i], 0, 0, true);
        assert_true(needs(names[i], names[i], INT64_MAX, &looked) == (i == 1));
        make(names[i], KEYS - 1, KEYS - 1, true);            /* nobody lacks it                  */
        assert_false(needs(names[i], names[i], INT64_MAX, &looked));
        make(names[i], CHANGE, CHANGE, false);               /* itself lacks an SPS              */
        assert_true(needs(names[i], names[i], INT64_MAX, &looked));
    }
}

static void key_frames_that_bring_all(void **state)
{
    (void)state;
    uint64_t looked;
    for (int i = 0; i < NAMES; i++) {
        make(names[i], CHANGE, KEYS, true);
        assert_false(needs(names[i], names[i], INT64_MAX, &looked));
    }
}

/* Without a file to look into, a Matroska's packets are read; the others are read through. */
static void a_file_that_cannot_be_opened(void **state)
{
    (void)state;
    uint64_t looked;
    for (int i = 0; i < NAMES; i++) {
        make(names[i], CHANGE, CHANGE, true);
        assert_true(needs(names[i], "gone", INT64_MAX, &looked) && looked == 0);
        make(names[i], KEYS, KEYS, true);
        assert_true(needs(names[i], "gone", INT64_MAX, &looked) == (i != 1) && looked == 0);
    }
}

/* A film is a few hundred KB: what looks at a key frame ever again gives up, and soon. */
static void a_hostile_index(void **state)
{
    (void)state;
    enum { TIMES = 100000 };
    uint64_t looked;
    for (int i = 0; i < NAMES; i++) {
        make(names[i], KEYS, KEYS, true);
        assert_true(needs_of(names[i], names[i], INT64_MAX, TIMES, &looked));
        assert_in_range(looked, 1 << 20, 8 << 20);
        assert_false(needs_of(names[i], names[i], INT64_MAX, 50, &looked));
    }
    /* The demuxer finds it in its buffer each time, and reads nothing. */
    make(names[1], KEYS, KEYS, true);
    assert_true(needs_of(names[1], "gone", INT64_MAX, TIMES, &looked));
    assert_false(needs_of(names[1], "gone", INT64_MAX, 50, &looked));
}

static int begin(void **state)
{
    return clip_begin(state) == 0 && clip_encode("-c:v libx264 -preset veryfast -g 10 -keyint_min 10 -sc_threshold 0 -bf 0 master.mp4") ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(films_that_never_change), cmocka_unit_test(a_change_that_is_said_once),
                                       cmocka_unit_test(key_frames_that_bring_all), cmocka_unit_test(a_file_that_cannot_be_opened),
                                       cmocka_unit_test(a_hostile_index)};
    return cmocka_run_group_tests(tests, begin, clip_end);
}
