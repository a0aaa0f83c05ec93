#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "plan/inputs_list.h"

/* A playlist of two clips: 1 s to 3 s of 00001, and the first half second of 00023. */
static const uint8_t playlist[] = {'M', 'P', 'L', 'S', '0', '2', '0', '0', 0, 0, 0, 16, 0, 0, 0, 0,
                                   /* at 16: length, unused, clips, sub-paths */
                                   0, 0, 0, 50, 0, 0, 0, 2, 0, 0,
                                   /* at 26 */
                                   0, 20, '0', '0', '0', '0', '1', 'M', '2', 'T', 'S', 0, 1, 0, 0,
                                   0, 0xaf, 0xc8, 0, 2, 0x0f, 0x58,
                                   /* at 48, two bytes longer */
                                   0, 22, '0', '0', '0', '2', '3', 'M', '2', 'T', 'S', 0, 1, 0, 0,
                                   0, 0, 0, 0, 0, 0x57, 0xe4, 9, 9};

TEST(two_clips)
{
    struct mpls_item item;
    size_t at;
    assert_int_equal(mpls_begin(playlist, sizeof playlist, &at), 2);
    assert_true(mpls_next(playlist, sizeof playlist, &at, &item));
    assert_string_equal(item.name, "00001");
    assert_int_equal(item.start_us, 1000000);
    assert_int_equal(item.end_us, 3000000);
    assert_true(mpls_next(playlist, sizeof playlist, &at, &item));
    assert_string_equal(item.name, "00023");
    assert_int_equal(item.start_us, 0);
    assert_int_equal(item.end_us, 500000);
    assert_int_equal(at, sizeof playlist);
    assert_false(mpls_next(playlist, sizeof playlist, &at, &item));
}

/* Cut after any byte it is no playlist, or lacks a clip. */
TEST(cut_off)
{
    for (size_t size = 0; size < sizeof playlist; size++) {
        uint8_t *copy = malloc(size + 1); /* so that a sanitizer sees a byte too many */
        memcpy(copy, playlist, size);
        struct mpls_item item;
        size_t at = 0, whole = 0;
        size_t count = mpls_begin(copy, size, &at);
        while (count > 0 && whole < count && mpls_next(copy, size, &at, &item))
            whole++;
        assert_int_equal(count, size < 26 ? 0 : 2);
        assert_int_equal(whole, size < 48 ? 0 : 1);
        free(copy);
    }
}

TEST(what_is_none)
{
    uint8_t bad[sizeof playlist];
    static const struct {
        size_t at;
        uint8_t byte;
        size_t count;
    } t[] = {{0, 'X', 0}, {8, 0xff, 0}, {11, 255, 0}, {28, '/', 2}, {33, 'X', 2}, {27, 19, 2}};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct mpls_item item;
        size_t at = 0;
        memcpy(bad, playlist, sizeof bad);
        bad[t[i].at] = t[i].byte;
        assert_int_equal(mpls_begin(bad, sizeof bad, &at), t[i].count);
        if (t[i].count > 0)
            assert_false(mpls_next(bad, sizeof bad, &at, &item));
    }
}
