#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "cache/spot_check.h"
#include "files.h"

static bool holds(const char *path, const uint8_t check[SPOT_CHECK_BYTES])
{
    return spot_check_holds(path, NULL, check, SPOT_CHECK_BYTES);
}

TEST_WITH(sizes, enter, leave)
{
    static uint8_t bytes[3 << 20];
    static const size_t sizes[] = {1, 16383, 16385, 1 << 20, sizeof bytes};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint8_t check[SPOT_CHECK_BYTES];
        put("a", bytes, sizes[i]);
        assert_true(spot_check_make("a", NULL, check));
        assert_true(holds("a", check));
        put("copy", bytes, sizes[i]);
        assert_true(holds("copy", check));
        bytes[sizes[i] / 2] = 1; /* small files are read whole, or nearly so */
        put("copy", bytes, sizes[i]);
        bytes[sizes[i] / 2] = 0;
        assert_true(sizes[i] > 16385 || !holds("copy", check));
    }
}

/* A film that differs in a quarter of its bytes, wherever that is: a chance of 1e-8 to miss it. */
TEST_WITH(differs_in_part, enter, leave)
{
    static uint8_t bytes[4 << 20];
    const size_t quarter = sizeof bytes / 4;
    uint8_t check[SPOT_CHECK_BYTES];
    put("a", bytes, sizeof bytes);
    assert_true(spot_check_make("a", NULL, check));
    for (size_t i = 0; i < 4; i++) {
        memset(bytes + i * quarter, 1, quarter);
        put("b", bytes, sizeof bytes);
        memset(bytes + i * quarter, 0, quarter);
        assert_false(holds("b", check));
    }
}

/* The places differ from check to check. */
TEST_WITH(places_differ, enter, leave)
{
    uint8_t a[SPOT_CHECK_BYTES], b[SPOT_CHECK_BYTES];
    put("a", "the film", 8);
    assert_true(spot_check_make("a", NULL, a) && spot_check_make("a", NULL, b));
    assert_memory_not_equal(a, b, 8);
    assert_true(holds("a", a) && holds("a", b));
}

TEST_WITH(parts, enter, leave)
{
    static uint8_t bytes[1 << 20];
    struct film_part part[] = {{.path = "a"}, {.path = "empty"}, {.path = "b"}};
    struct film_parts parts = {.part = part, .count = 3};
    uint8_t check[SPOT_CHECK_BYTES];
    put("a", bytes, 1000000);
    put("empty", "", 0);
    put("b", bytes, sizeof bytes);
    assert_true(spot_check_make("a", &parts, check));
    assert_true(spot_check_holds("a", &parts, check, sizeof check));
    memset(bytes, 1, sizeof bytes);
    put("b", bytes, sizeof bytes);
    assert_false(spot_check_holds("a", &parts, check, sizeof check));
}

TEST_WITH(no_check, enter, leave)
{
    uint8_t check[SPOT_CHECK_BYTES] = {0};
    assert_false(spot_check_make("nowhere", NULL, check));
    assert_false(holds("nowhere", check));
    put("a", "the film", 8);
    assert_false(holds("a", check));
    assert_true(spot_check_make("a", NULL, check));
    assert_false(spot_check_holds("a", NULL, check, sizeof check - 1));
}
