#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "stage/film_zeros.h"

enum { RUN = 2048, FRAME = 100, BYTES = 100000 };

/* A file whose bytes [from, from + zeros) are none. */
static AVIOContext *file_with(size_t from, size_t zeros)
{
    static uint8_t bytes[BYTES];
    memset(bytes, 0xa5, BYTES);
    memset(bytes + from, 0, zeros);
    FILE *f = tmpfile();
    assert_true(f && fwrite(bytes, BYTES, 1, f) == 1 && fflush(f) == 0);
    char url[64];
    snprintf(url, sizeof url, "/proc/self/fd/%d", fileno(f));
    AVIOContext *file = NULL;
    assert_int_equal(avio_open(&file, url, AVIO_FLAG_READ), 0);
    fclose(f);
    return file;
}

/* Packets every 1000 bytes, of which the one at 50000 comes `late` later than it should: which of them has a hole before it. */
static int trial(size_t from, size_t zeros, int64_t late, bool placed)
{
    AVIOContext *file = file_with(from, zeros);
    struct film_zeros z = {.run = RUN, .frame = FRAME, .dts = AV_NOPTS_VALUE};
    int found = -1;
    for (int i = 0; i < 99; i++) {
        AVPacket p = {.pos = placed || i % 2 == 0 ? i * 1000 : -1, .dts = i * FRAME + (i >= 50 ? late : 0)};
        assert_true(avio_seek(file, i * 1000 + 900, SEEK_SET) >= 0);
        bool hole = film_zeros_before(&z, file, &p);
        assert_int_equal(avio_tell(file), i * 1000 + 900);
        assert_false(hole && found >= 0);
        if (hole)
            found = i;
    }
    avio_closep(&file);
    return found;
}

static void both_signs(void **state)
{
    (void)state;
    for (int placed = 0; placed < 2; placed++) {
        assert_int_equal(trial(45000, 4096, 300, placed), 50);
        assert_int_equal(trial(45000, 4096, 0, placed), -1);
        assert_int_equal(trial(45000, RUN - 1, 300, placed), -1);
        assert_int_equal(trial(45000, 4096, 40, placed), -1);
    }
    assert_int_equal(trial(5000, 4096, 300, true), -1);     /* too far off */
    assert_int_equal(trial(60000, 4096, 300, true), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_signs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
