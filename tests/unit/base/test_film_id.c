
#include "test.h"
#include "base/film_id.h"
#include "files.h"

static bool id_of(const char *path, char text[FILM_ID_TEXT])
{
    struct err e = ERR_INIT;
    assert_true(film_id_of(path, NULL, text, &e));
    return text[0] != 0;
}

TEST_WITH(a_film_by_any_name, enter, leave)
{
    char a[FILM_ID_TEXT], b[FILM_ID_TEXT];
    put("a.mkv", "the film", 8);
    assert_true(id_of("a.mkv", a));
    assert_int_equal(strncmp(a, "8-", 2), 0);
    assert_int_equal(strlen(a), 2 + 32);
    mkdir("d", 0777);
    put("d/b.mp4", "the film", 8);
    assert_true(id_of("d/b.mp4", b));
    assert_string_equal(a, b);
    put("a.mkv", "the film!", 9);
    assert_true(id_of("a.mkv", b));
    assert_string_not_equal(a, b);
    put("a.mkv", "The film", 8);
    assert_true(id_of("a.mkv", b));
    assert_string_not_equal(a, b);
}

/* Of a long film, one byte in any of the blocks. */
TEST_WITH(a_long_film, enter, leave)
{
    static uint8_t bytes[3 << 20];
    char a[FILM_ID_TEXT], b[FILM_ID_TEXT];
    put("a.mkv", bytes, sizeof bytes);
    assert_true(id_of("a.mkv", a));
    static const size_t at[] = {0, (sizeof bytes - FILM_ID_BLOCK_BYTES) / 15 * 7, sizeof bytes - 1};
    for (size_t i = 0; i < 3; i++) {
        bytes[at[i]] = 1;
        put("a.mkv", bytes, sizeof bytes);
        assert_true(id_of("a.mkv", b));
        assert_string_not_equal(a, b);
        bytes[at[i]] = 0;
    }
}

static bool has_id(const struct film_parts *parts, const char *right)
{
    struct err e = ERR_INIT;
    char id[FILM_ID_TEXT];
    assert_true(film_id_of("a", parts, id, &e));
    return strcmp(id, right) == 0;
}

/* Every part counts, and where it begins and ends. */
TEST_WITH(parts, enter, leave)
{
    struct film_part part[] = {{.path = "a"}, {.path = "b"}};
    struct film_parts parts = {.part = part, .count = 2};
    char whole[FILM_ID_TEXT], alone[FILM_ID_TEXT];
    struct err e = ERR_INIT;
    put("a", "first", 5);
    put("b", "second", 6);
    assert_true(film_id_of("a", &parts, whole, &e));
    assert_int_equal(strncmp(whole, "11-", 3), 0);
    put("c", "firstsecond", 11);
    assert_true(id_of("c", alone));
    assert_string_not_equal(alone, whole);
    put("b", "Second", 6);
    assert_false(has_id(&parts, whole));
    put("b", "second", 6);
    part[1].end_us = 1;
    assert_false(has_id(&parts, whole));
    part[1].end_us = 0;
    assert_true(has_id(&parts, whole));
    part[0].path = "b";
    part[1].path = "a";
    assert_false(has_id(&parts, whole));
    part[1].path = "gone";
    assert_true(has_id(&parts, ""));
}

/* Of many parts, also the last one's first block. */
TEST_WITH(many_parts, enter, leave)
{
    enum { PARTS = 20 };
    static uint8_t bytes[FILM_ID_BLOCK_BYTES + 1];
    struct film_part part[PARTS];
    struct film_parts parts = {.part = part, .count = PARTS};
    char whole[FILM_ID_TEXT];
    struct err e = ERR_INIT;
    put("a", bytes, sizeof bytes);
    put("b", bytes, sizeof bytes);
    for (int i = 0; i < PARTS; i++)
        part[i] = (struct film_part){.path = i + 1 < PARTS ? "a" : "b"};
    assert_true(film_id_of("a", &parts, whole, &e));
    bytes[FILM_ID_BLOCK_BYTES - 1] = 1;
    put("b", bytes, sizeof bytes);
    assert_false(has_id(&parts, whole));
}

TEST_WITH(what_has_none, enter, leave)
{
    char id[FILM_ID_TEXT] = "old";
    assert_int_equal(mkfifo("fifo.mkv", 0600), 0);
    assert_false(id_of("fifo.mkv", id));
    assert_string_equal(id, "");
    assert_false(id_of("gone.mkv", id) || id_of(".", id) || id_of("/dev/null", id));
}
