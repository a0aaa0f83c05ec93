#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stage/film_tail.h"

enum { FILM = 5000, ROOM = 20000, BORDER = 10 * 512 };

struct film {
    uint8_t bytes[ROOM];
    size_t size;
};

/* Begins so, and goes on to `size` bytes with others that mean nothing. */
static struct film film_of(const char *head, size_t bytes, size_t size)
{
    struct film f = {.size = size};
    memset(f.bytes, 'x', size);
    memcpy(f.bytes, head, bytes);
    return f;
}

static void add(struct film *f, const void *bytes, size_t size)
{
    assert_true(f->size + size <= ROOM);
    memcpy(f->bytes + f->size, bytes, size);
    f->size += size;
}

static void fill(struct film *f, int value, size_t count)
{
    assert_true(f->size + count <= ROOM);
    memset(f->bytes + f->size, value, count);
    f->size += count;
}

/* How many bytes stand behind the film. */
static int64_t tail_of(const struct film *f)
{
    char name[] = "/tmp/film_tail.XXXXXX";
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    unlink(name);
    assert_int_equal(write(fd, f->bytes, f->size), f->size);
    int64_t begin = film_tail_begin(fd, (int64_t)f->size);
    close(fd);
    return (int64_t)f->size - begin;
}

static void add_id3(struct film *f, const char *title)
{
    char tag[128] = "TAG";
    snprintf(tag + 3, 30, "%s", title);
    snprintf(tag + 93, 5, "1999");
    add(f, tag, sizeof tag);
}

/* APE's tag: a head, where it is told to have one, 20 bytes, a foot. */
static void add_ape(struct film *f, int version, bool head, int size)
{
    uint8_t edge[32] = "APETAGEX";
    edge[8] = (uint8_t)version;
    edge[9] = (uint8_t)(version >> 8);
    edge[12] = (uint8_t)size;
    edge[13] = (uint8_t)(size >> 8);
    edge[23] = head ? 0x80 : 0;
    if (head)
        add(f, edge, sizeof edge);
    fill(f, 'y', 20);
    add(f, edge, sizeof edge);
}

static const char h264[] = "\0\0\0\1\x67", hevc[] = "\0\0\0\1\x40\1", mpeg2[] = "\0\0\1\xb3", obu[] = "\x12\0", ivf[] = "DKIF";

static void tags(void **state)
{
    (void)state;
    struct film f = film_of(ivf, 4, FILM);
    assert_int_equal(tail_of(&f), 0);
    add_id3(&f, "Title");
    assert_int_equal(tail_of(&f), 128);
    struct film odd = film_of(ivf, 4, FILM);
    add_id3(&odd, "Ti\2tle");
    assert_int_equal(tail_of(&odd), 0);
    for (int head = 0; head <= 1; head++) {
        struct film ape = film_of(mpeg2, 4, FILM);
        add_ape(&ape, 2000, head, 52);
        assert_int_equal(tail_of(&ape), head ? 84 : 52);
        add_id3(&ape, "both");
        assert_int_equal(tail_of(&ape), (head ? 84 : 52) + 128);
    }
    static const struct {
        int version, size;
    } wrong[] = {{1999, 52}, {2000, 31}, {2000, 9000}, {2000, 53}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct film ape = film_of(ivf, 4, FILM);
        add_ape(&ape, wrong[i].version, true, wrong[i].size);
        assert_int_equal(tail_of(&ape), 0);
    }
    /* Where it does no harm it is left alone, and so is a film of a few bytes. */
    struct film mkv = film_of("\x1a\x45\xdf\xa3", 4, FILM), small = film_of(ivf, 4, 500);
    add_id3(&mkv, "Title");
    add_id3(&small, "Title");
    assert_int_equal(tail_of(&mkv), 0);
    assert_int_equal(tail_of(&small), 0);
}

/* H.264's and AV1's own bytes: zeros from inside a sector on. A hole's begin with one, or just before. */
static void zeros_behind_streams(void **state)
{
    (void)state;
    static const struct {
        const char *head;
        size_t bytes;
        bool known;
    } stream[] = {{h264, 5, true}, {obu, 2, true}, {"\0\0\1\x09", 4, true}, {hevc, 6, false}, {mpeg2, 4, false}, {"\0\0\1\xba", 4, false}, {ivf, 4, false}};
    for (size_t i = 0; i < sizeof stream / sizeof *stream; i++) {
        struct film f = film_of(stream[i].head, stream[i].bytes, FILM);
        fill(&f, 0, 9000);
        assert_int_equal(tail_of(&f), stream[i].known ? 9000 : 0);
        add_id3(&f, "Title");
        assert_int_equal(tail_of(&f), !stream[i].known ? (stream[i].head[3] == '\xba' ? 0 : 128) : 9128);
    }
    for (size_t size = BORDER - 3; size <= BORDER + 1; size++) {
        struct film f = film_of(h264, 5, size);
        fill(&f, 0, 100);
        assert_int_equal(tail_of(&f), size > BORDER ? 100 : 0);
    }
    struct film few = film_of(h264, 5, FILM), other = film_of(h264, 5, FILM);
    fill(&few, 0, 15);
    fill(&other, 0xff, 100);
    assert_int_equal(tail_of(&few), 0);
    assert_int_equal(tail_of(&other), 0);
}

/* Where a container's own end stands before them, wherever they begin. */
static void padding_behind_an_end(void **state)
{
    (void)state;
    static const char nut[] = "nut/multimedia container";
    static const uint8_t index[] = {'N', 'X', 0xdd, 0x67, 0x2f, 0x23, 0xe6, 0x4e, 1, 2, 0, 0, 0, 0, 0, 0, 0, 22, 3, 4, 0, 0};
    static const uint8_t media[] = {0, 0, 0, 0, 1, 0xbc}, eos[] = {0, 0, 0, 0, 1, 0xfb, 0, 0, 0, 16, 0, 0, 0, 0, 0xe1, 0xe2};
    for (int value = 0; value <= 255; value += 255) {
        struct film f = film_of(nut, sizeof nut, FILM);
        fill(&f, value, 700);
        assert_int_equal(tail_of(&f), 0);
        f.size = FILM;
        add(&f, index, sizeof index);
        assert_int_equal(tail_of(&f), 0);
        fill(&f, value, 700);
        assert_int_equal(tail_of(&f), 700);

        struct film g = film_of((const char *)media, sizeof media, BORDER - sizeof eos);
        fill(&g, value, 700);
        assert_int_equal(tail_of(&g), 0);
        g.size = BORDER - sizeof eos;
        add(&g, eos, sizeof eos);
        fill(&g, value, 700);
        assert_int_equal(tail_of(&g), 700);

        struct film parts = film_of("--film\r\n", 8, FILM);
        fill(&parts, value, 700);
        assert_int_equal(tail_of(&parts), 0);
        parts.size = FILM;
        add(&parts, "\r\n--film\r\n", 10);
        fill(&parts, value, 700);
        assert_int_equal(tail_of(&parts), 700);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tags),
        cmocka_unit_test(zeros_behind_streams),
        cmocka_unit_test(padding_behind_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
