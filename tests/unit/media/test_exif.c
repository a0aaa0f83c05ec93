/* When a photograph was taken, from bytes that are made here, and from any bytes. */

#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "media/bitstream/exif.h"

enum { FIRST = 8, SECOND = 50, TEXTS = 120, SIZE = 200 };

static void put(uint8_t *to, uint32_t value, int bytes, bool little)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * (little ? i : bytes - 1 - i));
}

static void put_entry(uint8_t *to, uint32_t tag, uint32_t type, uint32_t count, uint32_t value,
                      bool little)
{
    put(to, tag, 2, little);
    put(to + 2, type, 2, little);
    put(to + 4, count, 4, little);
    put(to + 8, value, type == 3 ? 2 : 4, little);
}

/* TIFF with an orientation and a time; `offset` and `fraction` may be NULL. */
static void make_tiff(uint8_t t[SIZE], bool little, int turned, const char *time,
                      const char *offset, const char *fraction)
{
    memset(t, 0, SIZE);
    memcpy(t, little ? "II*\0" : "MM\0*", 4);
    put(t + 4, FIRST, 4, little);
    put(t + FIRST, 2, 2, little);
    put_entry(t + FIRST + 2, 0x0112, 3, 1, (uint32_t)turned, little);
    put_entry(t + FIRST + 14, 0x8769, 4, 1, SECOND, little);
    put(t + SECOND, 3, 2, little);
    put_entry(t + SECOND + 2, 0x9003, 2, 20, TEXTS, little);
    memcpy(t + TEXTS, time, 20);
    if (offset) {
        put_entry(t + SECOND + 14, 0x9011, 2, 7, TEXTS + 20, little);
        memcpy(t + TEXTS + 20, offset, 7);
    }
    if (fraction) { /* at most 3 digits lie in the entry itself */
        put_entry(t + SECOND + 26, 0x9291, 2, (uint32_t)strlen(fraction) + 1, 0, little);
        memcpy(t + SECOND + 26 + 8, fraction, strlen(fraction) + 1);
    }
}

static struct exif read_after(const char *mark, size_t length, const uint8_t t[SIZE], size_t size)
{
    uint8_t *file = malloc(100 + length + size); /* nothing behind it, for the sanitizer */
    memset(file, 'x', 100);
    memcpy(file + 100, mark, length);
    memcpy(file + 100 + length, t, size);
    struct exif x = exif_read(file, 100 + length + size);
    free(file);
    return x;
}

TEST(times)
{
    uint8_t t[SIZE];
    for (int little = 0; little < 2; little++) {
        make_tiff(t, little, 1, "2026:11:26 23:59:58", "-05:30", "25");
        struct exif x = read_after("Exif\0\0", 6, t, SIZE);
        assert_true(x.has_time && x.has_offset);
        assert_true(x.time_us == INT64_C(1795737598250000));
        assert_true(x.offset_us == -19800 * INT64_C(1000000));
        x = read_after("eXIf", 4, t, SIZE);
        assert_true(x.time_us == INT64_C(1795737598250000));
        x = read_after("EXIF\x10\0\0\0Exif\0\0", 14, t, SIZE);
        assert_true(x.time_us == INT64_C(1795737598250000));
    }
    make_tiff(t, true, 1, "1970:01:01 00:00:00", NULL, NULL);
    struct exif x = read_after("Exif\0\0", 6, t, SIZE);
    assert_true(x.has_time && !x.has_offset && x.time_us == 0);
    static const char *const no[] = {"0000:00:00 00:00:00", "2026:13:01 00:00:00",
                                     "    :  :     :  :  ", "2026:11:26 24:00:00",
                                     "2026-11-26T10:00:00", "1969:12:31 23:59:59"};
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        make_tiff(t, true, 1, no[i], "+01:00", NULL);
        x = read_after("Exif\0\0", 6, t, SIZE);
        assert_false(x.has_time);
    }
    make_tiff(t, true, 1, "2026:11:26 23:59:58", "+15:00", NULL);
    assert_false(read_after("Exif\0\0", 6, t, SIZE).has_offset);
    assert_false(exif_read((const uint8_t *)"no photograph", 13).has_time);
    assert_false(exif_read(NULL, 0).has_time);
}

/* The first row of EXIF's table: where the stored frame's top left pixel is shown. */
TEST(orientations)
{
    static const struct orientation right[] = {{0, false}, {0, false}, {0, true},  {2, false},
                                               {2, true},  {3, true},  {1, false}, {1, true},
                                               {3, false}, {0, false}};
    for (int value = 0; value < 10; value++) {
        uint8_t t[SIZE];
        make_tiff(t, value % 2, value, "2026:11:26 23:59:58", NULL, NULL);
        struct exif x = read_after("Exif\0\0", 6, t, SIZE);
        assert_int_equal(x.orientation.quarter_turns, right[value].quarter_turns);
        assert_int_equal(x.orientation.mirror, right[value].mirror);
    }
}

/* Truncated anywhere, and with any byte changed: nothing outside is read. */
TEST(untrusted)
{
    uint8_t t[SIZE];
    srand(3);
    for (int little = 0; little < 2; little++)
        for (size_t size = 0; size <= SIZE; size++) {
            make_tiff(t, little, 6, "2026:11:26 23:59:58", "+01:00", "5");
            read_after("Exif\0\0", 6, t, size);
        }
    for (int i = 0; i < 100000; i++) {
        make_tiff(t, i % 2, 6, "2026:11:26 23:59:58", "+01:00", "5");
        for (int k = 0; k < 3; k++)
            t[4 + rand() % (SIZE - 4)] = (uint8_t)(rand() % 3 ? rand() : 0xff);
        struct exif x = read_after("Exif\0\0", 6, t, SIZE);
        assert_true(!x.has_time || (x.time_us >= 0 && x.time_us < INT64_C(253402300800000000)));
    }
}
