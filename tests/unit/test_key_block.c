/* test_key_block.c - where a block lies in clusters that are made here, whole and broken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "stage/key_block.h"

/* A file of these bytes, gone when it is closed. */
static int file_of(const uint8_t *bytes, size_t size)
{
    char name[] = "/tmp/barcode-block-XXXXXX";
    int fd = mkstemp(name);
    assert_true(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    unlink(name);
    return fd;
}

#define AHEAD 0xff, 0xff, 0xff
#define CLUSTER 0x1f, 0x43, 0xb6, 0x75
#define TIMESTAMP 0xe7, 0x82, 0x03, 0xe8                     /* 1000 */
#define PREVIOUS 0xab, 0x81, 0x05
#define SOUND 0xa3, 0x86, 0x82, 0x00, 0x00, 0x80, 1, 2       /* track 2 */
#define SHOWN 0xa3, 0x87, 0x81, 0x00, 0x00, 0x80, 3, 4, 5    /* track 1, at once */
#define GROUPED 0xa0, 0x8a, 0x9b, 0x81, 40, 0xa1, 0x85, 0x81, 0xff, 0xfe, 0x00, 6      /* track 1, 2 before */
#define LACED 0xa3, 0x86, 0x81, 0x00, 0x28, 0x06, 7, 8       /* track 1, 40 after */

static const uint8_t film[] = {AHEAD, CLUSTER, 0xac, TIMESTAMP, PREVIOUS, SOUND, SHOWN, GROUPED, LACED, CLUSTER, 0xff, TIMESTAMP, SHOWN};
enum { AT = 3, SECOND = sizeof film - 18 };

static void blocks_are_found(void **state)
{
    (void)state;
    struct key_block b;
    int fd = file_of(film, sizeof film);
    assert_true(key_block_find(fd, AT, 1, 1000, &b) && b.size == 3 && b.read > 0);
    assert_memory_equal(film + b.at, ((const uint8_t[]){3, 4, 5}), 3);
    assert_true(key_block_find(fd, AT, 2, 1000, &b) && b.size == 2 && film[b.at] == 1);
    assert_true(key_block_find(fd, AT, 1, 998, &b) && b.size == 1 && film[b.at] == 6);
    assert_true(key_block_find(fd, SECOND, 1, 1000, &b) && b.size == 3 && b.at == sizeof film - 3);
    close(fd);
}

static void what_is_not_there(void **state)
{
    (void)state;
    struct key_block b;
    int fd = file_of(film, sizeof film);
    assert_false(key_block_find(fd, AT, 1, 1040, &b));        /* laced */
    assert_false(key_block_find(fd, AT, 1, 1001, &b));
    assert_false(key_block_find(fd, AT, 3, 1000, &b));
    assert_false(key_block_find(fd, 0, 1, 1000, &b));
    assert_false(key_block_find(fd, sizeof film, 1, 1000, &b) || key_block_find(fd, SECOND, 1, 1001, &b));
    close(fd);
    for (size_t n = 0; n + 1 < sizeof film - 18; n++) {
        fd = file_of(film, n);
        key_block_find(fd, AT, 1, 1040, &b);
        close(fd);
    }
}

static void tracks(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {0x81, 0, 0, 0x40, 0x05, 0, 0, 0};
    uint64_t track = 0;
    int fd = file_of(bytes, sizeof bytes);
    assert_true(key_block_track(fd, 0, &track) && track == 1);
    assert_true(key_block_track(fd, 3, &track) && track == 5);
    assert_false(key_block_track(fd, 5, &track) || key_block_track(fd, 100, &track));
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_are_found), cmocka_unit_test(what_is_not_there), cmocka_unit_test(tracks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
