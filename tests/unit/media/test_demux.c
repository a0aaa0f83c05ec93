/* test_demux.c - coded pictures of every container, damage, and how films end */
#include <pthread.h>

#include "test.h"
#include "clip_packets.h"
#include "film_pass.h"

/* Everything that a reader says of a film. */
struct reading {
    struct picture *p; /* [count], packets freed */
    int *size;
    size_t count;
    struct demux reader; /* closed */
    struct err error;
};

static struct reading read_film(const char *name)
{
    struct reading got = {.p = calloc(4096, sizeof *got.p),
                          .size = calloc(4096, sizeof *got.size),
                          .error = ERR_INIT};
    struct open_film f;
    uint64_t position = 0;
    assert_true(got.p && got.size);
    film_open(&f, name);
    while (got.count < 4096 && demux_next(&f.reader, &got.p[got.count], &got.error)) {
        struct picture *p = &got.p[got.count];
        assert_int_equal(p->serial, got.count);
        assert_true(demux_position(&f.reader) >= position);
        position = demux_position(&f.reader);
        got.size[got.count++] = (int)packet_size(p->packet);
        packet_free(&p->packet);
    }
    assert_true(position > 0);
    got.reader = f.reader;
    film_close(&f);
    return got;
}

static void reading_free(struct reading *r)
{
    free(r->p);
    free(r->size);
}

static size_t count_cuts(const struct reading *r, enum rap rap)
{
    size_t n = 0;
    for (size_t i = 0; i < r->count; i++)
        n += r->p[i].rap == rap;
    return n;
}

/* In one piece, undamaged, one picture a packet. */
static void assert_sound(const struct reading *r, enum bitstream stream, int length_size)
{
    assert_int_equal(r->count, CLIP_FRAMES);
    assert_int_equal(r->error.code, ERR_NONE);
    assert_int_equal(r->reader.traits.stream, stream);
    assert_int_equal(r->reader.length_size, length_size);
    assert_false(r->reader.needs_sequential || r->reader.failed);
    for (size_t i = 0; i < r->count; i++)
        assert_false(r->p[i].hidden);
}

/* Within each GOP the pictures' order and their times agree. */
static void assert_order_is_time(const struct reading *r)
{
    for (size_t i = 0; i < r->count; i++) {
        assert_true(r->p[i].order != TIME_NONE);
        for (size_t k = i + 1; k < r->count && r->p[k].rap == RAP_NONE; k++)
            assert_int_equal(r->p[k].order < r->p[i].order, r->p[k].pts_us < r->p[i].pts_us);
    }
}

TEST(h264)
{
    clip_need("-c:v libx264 -preset veryfast -x264-params "
              "keyint=20:min-keyint=20:open-gop=1:bframes=3:scenecut=0 open.mp4");
    struct reading r = read_film("open.mp4");
    assert_sound(&r, STREAM_H264, 4);
    assert_int_equal(r.p[0].rap, RAP_CLOSED);
    assert_int_equal(count_cuts(&r, RAP_OPEN), 9);
    assert_true(r.p[0].closed);
    assert_order_is_time(&r);
    size_t droppable = 0;
    for (size_t i = 0; i < r.count; i++)
        droppable += r.p[i].droppable;
    assert_in_range(droppable, 60, 160);
    reading_free(&r);

    assert_true(clip_ffmpeg("-i open.mp4 -c copy open.ts"));
    struct reading ts = read_film("open.ts");
    assert_sound(&ts, STREAM_H264, 0);
    assert_int_equal(count_cuts(&ts, RAP_OPEN), 9);
    reading_free(&ts);

    /* A raw stream stores no time: the picture order remains. */
    assert_true(clip_ffmpeg("-i open.mp4 -c copy open.h264"));
    struct reading raw = read_film("open.h264");
    assert_sound(&raw, STREAM_H264, 0);
    for (size_t i = 0; i < raw.count; i++) {
        assert_true(raw.p[i].pts_us == TIME_NONE);
        assert_true(raw.p[i].order != TIME_NONE);
    }
    reading_free(&raw);
}

/* x265 takes the number of layers; before version 4, whether there are two. */
static struct reading read_layers(int layers)
{
    char line[256];
    snprintf(line, sizeof line,
             "-c:v libx265 -preset superfast -x265-params log-level=error:keyint=20:"
             "min-keyint=20:open-gop=1:bframes=4:b-adapt=0:temporal-layers=%d layers.mkv",
             layers);
    clip_need(line);
    return read_film("layers.mkv");
}

static size_t count_layered(const struct reading *r)
{
    size_t layered = 0;
    for (size_t i = 0; i < r->count; i++)
        layered += r->p[i].temporal_id > 0;
    return layered;
}

TEST(hevc)
{
    struct reading r = read_layers(1);
    if (count_layered(&r) == 0) {
        reading_free(&r);
        r = read_layers(2);
    }
    assert_sound(&r, STREAM_HEVC, 4);
    assert_int_equal(count_cuts(&r, RAP_OPEN) + count_cuts(&r, RAP_CLOSED), 10);
    assert_order_is_time(&r);
    size_t leading = 0, undecodable = 0, wrong = 0;
    int64_t key = TIME_NONE;
    for (size_t i = 0; i < r.count; i++) {
        leading += r.p[i].marked_leading;
        undecodable += r.p[i].needs_before;
        if (r.p[i].rap != RAP_NONE)
            key = r.p[i].pts_us;
        wrong += r.p[i].marked_leading != (r.p[i].pts_us < key);
        wrong += r.p[i].needs_before && !r.p[i].marked_leading;
    }
    assert_true(count_layered(&r) > 50);
    assert_true(leading > 9 && undecodable > 9);
    assert_int_equal(wrong, 0);
    reading_free(&r);
}

TEST(mpeg2)
{
    clip_need("-c:v mpeg2video -g 10 -bf 2 -q:v 4 -sc_threshold 1000000000 open.mpg");
    struct reading r = read_film("open.mpg");
    assert_sound(&r, STREAM_MPEG2, 0);
    assert_in_range(count_cuts(&r, RAP_OPEN), 16, 24);
    size_t untimed = 0;
    for (size_t i = 0; i < r.count; i++) {
        assert_true(r.p[i].order >= 0 && r.p[i].order < 64);
        untimed += r.p[i].pts_us == TIME_NONE;
    }
    assert_true(untimed > 10);
    reading_free(&r);
}

/* Pictures stored as two fields need more than runs can do. */
TEST(field_pictures)
{
    uint8_t *file = clip_bytes;
    clip_need("-c:v mpeg2video -g 10 -bf 0 -b:v 200k fields.m2v");
    size_t size = clip_load("fields.m2v"), changed = 0;
    for (size_t i = 0; i + 6 < size; i++) {
        if (memcmp(file + i, "\0\0\1\xb5", 4) != 0 || file[i + 4] >> 4 != 8)
            continue;
        file[i + 6] = (uint8_t)((file[i + 6] & 0xfc) | 1); /* picture_structure: top field */
        changed++;
    }
    assert_int_equal(changed, CLIP_FRAMES);
    clip_save("fields.m2v", size);
    struct reading r = read_film("fields.m2v");
    assert_true(r.reader.needs_sequential);
    reading_free(&r);
}

TEST(others)
{
    if (clip_hidden_vp8("vp8.webm")) {
        struct reading r = read_film("vp8.webm");
        size_t hidden = 0;
        for (size_t i = 0; i < r.count; i++)
            hidden += r.p[i].hidden;
        assert_true(hidden > 2);
        assert_int_equal(r.count - hidden, CLIP_FRAMES);
        assert_int_equal(r.p[0].rap, RAP_CLOSED);
        reading_free(&r);
    }
    if (clip_encode("-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -g 40 -b:v 150k vp9.webm")) {
        struct reading r = read_film("vp9.webm");
        assert_sound(&r, STREAM_VP9, 0);
        assert_true(count_cuts(&r, RAP_CLOSED) >= 5);
        reading_free(&r);
    }
    if (clip_encode("-c:v mjpeg -q:v 5 mjpeg.avi")) {
        struct reading r = read_film("mjpeg.avi");
        assert_sound(&r, STREAM_OTHER, 0);
        for (size_t i = 0; i < r.count; i++) /* AVI stores decoding times; nothing is reordered */
            assert_int_equal(r.p[i].pts_us, (int64_t)i * CLIP_STEP_US);
        reading_free(&r);
    }
}

/* An edit list hides pictures that must be decoded. */
TEST(edit_list)
{
    clip_need("-c:v libx264 -preset veryfast -x264-params "
              "keyint=50:min-keyint=50:bframes=0:scenecut=0 whole.mp4");
    assert_true(clip_ffmpeg("-ss 3 -i whole.mp4 -c copy edited.mp4"));
    struct reading r = read_film("edited.mp4");
    size_t hidden = 0;
    for (size_t i = 0; i < r.count; i++)
        hidden += r.p[i].hidden;
    assert_int_equal(hidden, 25); /* from the key at 2 s to 3 s */
    assert_int_equal(r.count - hidden, 125);
    reading_free(&r);
}

/* ------------------------------------------------------------------ what demuxers do to us */

static enum change put_empty_ones(AVPacket *p, int number)
{
    (void)p;
    return number % 20 == 10 ? BEHIND_AN_EMPTY_ONE : COPIED;
}

/* To a decoder, a packet of no bytes may mean the end of the film. */
TEST(empty_packets_are_no_pictures)
{
    clip_need("-c:v mpeg2video -g 10 -bf 0 -q:v 4 -sc_threshold 1000000000 plain.mkv");
    remux("plain.mkv", "empty.nut", put_empty_ones);
    struct reading r = read_film("empty.nut");
    assert_sound(&r, STREAM_MPEG2, 0);
    for (size_t i = 0; i < r.count; i++)
        assert_true(r.size[i] > 0);
    reading_free(&r);
}

/* A file may store any number as a time: one that cannot be one is none, and lengths are still
 * found. */
TEST(absurd_times)
{
    struct err e = ERR_INIT;
    clip_need("-c:v mpeg2video -g 10 -bf 0 -q:v 4 -sc_threshold 1000000000 plain.mkv");
    assert_true(clip_ffmpeg("-i plain.mkv -c copy -output_ts_offset 9100000000000 absurd.nut"));
    struct reading r = read_film("absurd.nut");
    assert_int_equal(r.count, CLIP_FRAMES);
    for (size_t i = 0; i < r.count; i++)
        assert_true(r.p[i].pts_us == TIME_NONE);
    reading_free(&r);
    struct source *s = clip_open("absurd.nut");
    assert_true(clip_measure(s, &e));
    assert_int_equal(s->film.length.frames, CLIP_FRAMES);
    assert_true(s->film.length.duration_us > 0);
    source_close(&s);
}

/* Makes a film, plain.mkv, and one that lacks 20,000 bytes, gap.mkv. */
static void make_films_with_gap(void)
{
    clip_need("-c:v mpeg2video -g 10 -q:v 4 -sc_threshold 1000000000 plain.mkv");
    const size_t size = clip_load("plain.mkv");
    memset(clip_bytes + size / 2000 * 1000, 0, 20000);
    clip_save("gap.mkv", size);
}

TEST(damage_is_noticed)
{
    make_films_with_gap();
    struct reading whole = read_film("plain.mkv");
    assert_false(whole.reader.failed);
    struct reading r = read_film("gap.mkv");
    assert_true(r.reader.failed);
    assert_true(r.count > CLIP_FRAMES / 3 && r.count < CLIP_FRAMES);
    assert_int_equal(r.error.code, ERR_NONE); /* a film that reads in part is no error */
    reading_free(&whole);
    reading_free(&r);
}

/* Packets of both streams come in the order of the file, and pictures from the video alone. */
TEST(sound_beside_the_video)
{
    struct err e = ERR_INIT;
    struct open_film f[2];
    struct picture p;
    AVPacket *packet = av_packet_alloc(), *same = av_packet_alloc();
    size_t sounds = 0, pictures = 0;
    clip_need("-f lavfi -i sine -map 0:v -map 1:a -c:v mpeg2video -q:v 4 -c:a mp2 -shortest "
              "sound.mp4");
    for (int i = 0; i < 2; i++) {
        film_open(&f[i], "sound.mp4");
        assert_int_equal(f[i].film.stream, 0);
        demux_select(&f[i].reader, 1);
    }
    AVFormatContext *plain = NULL;
    assert_int_equal(avformat_open_input(&plain, "sound.mp4", NULL, NULL), 0);
    while (demux_read(&f[0].reader, packet, &e)) {
        assert_int_equal(av_read_frame(plain, same), 0);
        assert_int_equal(packet->stream_index, same->stream_index);
        assert_true(packet->pts == same->pts && packet->size == same->size);
        av_packet_unref(same);
        if (packet->stream_index == 0) {
            demux_describe(&f[0].reader, av_packet_clone(packet), &p);
            assert_int_equal(p.serial, pictures++);
            packet_free(&p.packet);
        } else {
            sounds++;
        }
        av_packet_unref(packet);
    }
    assert_true(av_read_frame(plain, same) < 0);
    assert_true(pictures == CLIP_FRAMES && sounds > 100);
    for (pictures = 0; demux_next(&f[1].reader, &p, &e); packet_free(&p.packet))
        assert_int_equal(p.serial, pictures++);
    assert_int_equal(pictures, CLIP_FRAMES);
    assert_false(f[0].reader.failed || f[1].reader.failed || e.code != ERR_NONE);
    film_close(&f[0]);
    film_close(&f[1]);
    avformat_close_input(&plain);
    av_packet_free(&packet);
    av_packet_free(&same);
}

/* Reads one picture. Returns false if there is none. */
static bool film_step(struct open_film *f)
{
    struct err e = ERR_INIT;
    struct picture p;
    bool more = demux_next(&f->reader, &p, &e);
    if (more)
        packet_free(&p.packet);
    return more;
}

/* Opens two films, and reads their pictures in turns. */
static void read_both(struct open_film film[2], const char *first, const char *second)
{
    film_open(&film[0], first);
    film_open(&film[1], second);
    for (bool more[2] = {true, true}; more[0] || more[1];)
        for (int i = 0; i < 2; i++)
            more[i] = more[i] && film_step(&film[i]);
}

/* Several films are read at once: what a demuxer says of one of them is no damage to another, in
 * the same thread or not. */
TEST(damage_of_another_film)
{
    make_films_with_gap();
    for (int order = 0; order < 2; order++) {
        struct open_film film[2];
        read_both(film, order ? "gap.mkv" : "plain.mkv", order ? "plain.mkv" : "gap.mkv");
        assert_int_equal(film[0].reader.failed, order == 1);
        assert_int_equal(film[1].reader.failed, order == 0);
        assert_int_equal(film[order == 0 ? 0 : 1].reader.serial, CLIP_FRAMES);
        film_close(&film[0]);
        film_close(&film[1]);
    }
}

static void *read_through(void *film)
{
    while (film_step(film))
        continue;
    return NULL;
}

TEST(damage_on_another_thread)
{
    if (access("gap.mkv", R_OK) != 0)
        skip();
    struct open_film film[2];
    pthread_t thread[2];
    film_open(&film[0], "plain.mkv");
    film_open(&film[1], "gap.mkv");
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, read_through, &film[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    assert_false(film[0].reader.failed);
    assert_true(film[1].reader.failed);
    film_close(&film[0]);
    film_close(&film[1]);
}

/* A demuxer that opens others (a playlist's, a film's in several files) is told of what these find.
 */
TEST(damage_in_a_nested_film)
{
    if (access("gap.mkv", R_OK) != 0)
        skip();
    FILE *f = fopen("list.ffconcat", "w");
    assert_non_null(f);
    fputs("ffconcat version 1.0\nfile gap.mkv\nfile plain.mkv\n", f);
    assert_int_equal(fclose(f), 0);
    struct open_film film[2];
    read_both(film, "list.ffconcat", "plain.mkv");
    assert_true(film[0].reader.failed);
    assert_true(film[0].reader.serial > CLIP_FRAMES);
    assert_false(film[1].reader.failed);
    film_close(&film[0]);
    film_close(&film[1]);
}

/* How a film ended for its reader. */
struct ending {
    bool failed, gap;
    uint64_t pictures;
};

static struct ending read_to_end(const char *name)
{
    struct err e = ERR_INIT;
    struct open_film f;
    struct picture p;
    film_open(&f, name);
    while (film_step(&f))
        continue;
    assert_false(demux_next(&f.reader, &p, &e)); /* who goes on with another decoder asks again */
    assert_int_equal(e.code, ERR_NONE);
    struct ending end = {f.reader.failed, f.reader.gap, f.reader.serial};
    film_close(&f);
    return end;
}

/* A copy of `from` with zeros behind it. */
static void pad_film(const char *from, const char *to, size_t zeros)
{
    const size_t size = clip_load(from);
    memset(clip_bytes + size, 0, zeros);
    clip_save(to, size + zeros);
}

TEST(transport_streams)
{
    if (!clip_encode("-c:v mpeg2video -g 10 -q:v 4 plain.ts") ||
        !clip_ffmpeg("-i plain.ts -c copy -mpegts_m2ts_mode 1 blu.m2ts"))
        skip();
    struct ending whole = read_to_end("plain.ts"), blu = read_to_end("blu.m2ts");
    assert_false(whole.failed || whole.gap || blu.failed || blu.gap);
    assert_int_equal(whole.pictures, CLIP_FRAMES);

    /* less than a packet: rubbish that nobody misses */
    pad_film("plain.ts", "padded.ts", 100);
    assert_false(read_to_end("padded.ts").failed);
}

/* Elsewhere zeros at the end are padding. */
TEST(padded_films)
{
    static const char *const name[] = {"plain.mpg", "plain.m2v", "plain.avi", "plain.mp4",
                                       "plain.mkv"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        char line[128];
        snprintf(line, sizeof line, "-c:v mpeg2video -g 10 -q:v 4 %s", name[i]);
        if (!clip_encode(line))
            skip();
        snprintf(line, sizeof line, "padded%s", strrchr(name[i], '.'));
        pad_film(name[i], line, 2000);
        struct ending whole = read_to_end(name[i]), padded = read_to_end(line);
        assert_false(whole.failed || whole.gap);
        assert_false(padded.failed || padded.gap);
        assert_int_equal(padded.pictures, whole.pictures);
    }
}

TEST_FIXTURE(clip_begin, clip_end)
