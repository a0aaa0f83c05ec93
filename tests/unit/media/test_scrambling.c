
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "media/container/scrambling.h"

enum { PACKETS = 40, PID = 0x100 };

/*
 * Makes `PACKETS` packets of `step` bytes, after `front` bytes. Of each ten packets, `scrambled` of
 * `PID` are scrambled, and `others` are scrambled null packets. Reads from a block of the exact
 * size.
 */
static bool is_found(size_t step, size_t front, int scrambled, int others, int pid)
{
    size_t size = front + PACKETS * step;
    uint8_t *data = calloc(1, size);
    assert_non_null(data);
    for (size_t i = 0; i < PACKETS; i++) {
        uint8_t *p = data + front + i * step;
        bool null = (int)(i % 10) < others;
        p[0] = 0x47;
        p[1] = null ? 0x1f : PID >> 8;
        p[2] = null ? 0xff : PID & 0xff;
        p[3] = null || (int)(i % 10) - others < scrambled ? 0xd0 : 0x10;
    }
    bool is = is_scrambled_ts(data, size, pid);
    for (size_t less = 1; less < step; less += 17)
        is_scrambled_ts(data, size - less, pid);
    free(data);
    return is;
}

TEST(most_packets)
{
    static const size_t steps[] = {188, 192, 204};
    for (size_t i = 0; i < 3; i++)
        for (size_t front = 0; front < 200; front += 4) {
            assert_true(is_found(steps[i], front, 10, 0, PID));
            assert_true(is_found(steps[i], front, 6, 0, PID));
            assert_true(is_found(steps[i], front, 6, 0, SCRAMBLING_ANY_PID));
            assert_false(is_found(steps[i], front, 4, 0, PID));
            assert_false(is_found(steps[i], front, 0, 8, SCRAMBLING_ANY_PID));
            assert_false(is_found(steps[i], front, 10, 0, PID + 1));
        }
}

TEST(no_transport_stream)
{
    static uint8_t data[4000];
    assert_false(is_scrambled_ts(data, sizeof data, SCRAMBLING_ANY_PID));
    memset(data, 0xff, sizeof data);
    assert_false(is_scrambled_ts(data, sizeof data, SCRAMBLING_ANY_PID));
    assert_false(is_scrambled_ts(data, 0, SCRAMBLING_ANY_PID));
}
