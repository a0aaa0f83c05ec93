#include <string.h>
#include <sys/stat.h>

#include "match/align_output.h"
#include "match/command.h"
#include "test.h"
#include "folder.h"

static void put(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    assert_true(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

/* What a worker process leaves in the place of an output: a way to another file, or one that never
 * ends. */
TEST_WITH(outputs_are_regular_files, enter, leave)
{
    static const char *const bad[] = {"link", "pipe", "folder", "sparse", "missing", "/dev/zero"};
    size_t bytes = 0;
    struct err e = ERR_INIT;
    put("good", "text");
    assert_true(symlink("good", "link") == 0 && mkfifo("pipe", 0600) == 0);
    assert_int_equal(mkdir("folder", 0700), 0);
    put("sparse", "");
    assert_int_equal(truncate("sparse", 1 << 28), 0);
    FILE *f = command_output("good", &bytes, &e);
    assert_non_null(f);
    assert_int_equal(bytes, 4);
    fclose(f);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_null(command_output(bad[i], &bytes, &e));
        assert_int_equal(e.code, ERR_FAILED);
        err_clear(&e);
    }
}

TEST_WITH(what_json_says_is_within_limits, enter, leave)
{
    static const struct {
        const char *text;
        bool ok;
        int64_t start_us;
    } cases[] = {{"{\"film\": {\"rate\": 25, \"start\": 1.5, \"duration\": 2}}", true, 1500000},
                 {"{\"film\": {\"start\": 1e300, \"duration\": -1}}", true, 0},
                 {"{\"film\": [\"start\"]}", true, 0},
                 {"{\"film\": {\"start\": 1e999}}", false, 0},
                 {"[", false, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct align_film film = {.start_us = 0};
        struct err e = ERR_INIT;
        put("film.json", cases[i].text);
        assert_int_equal(align_json_read("film.json", &film, &e), cases[i].ok);
        assert_true(film.start_us == cases[i].start_us && film.duration_us >= 0);
    }
    assert_int_equal(symlink("film.json", "link.json"), 0);
    struct align_film film = {.start_us = 0};
    assert_false(align_json_read("link.json", &film, NULL));
}
