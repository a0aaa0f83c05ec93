#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "test.h"
#include "folder.h"
#include "match/match.h"

/* With --no-cache, what is read of the films' sound is kept in a folder until the end. */
TEST_WITH(a_cache_for_the_time_of_a_command, enter, leave)
{
    static const struct option_row none[] = {{0}};
    const struct cli_command command = {.name = "find", .row = none};
    char *argv[] = {(char[]){"barcode"}, (char[]){"find"}, (char[]){"--no-cache"},
                    (char[]){"a.mkv"}, NULL};
    struct options o;
    struct command_films f;
    struct stat st;
    struct err e = ERR_INIT;
    FILE *film = fopen("a.mkv", "w");
    assert_true(film && fputs("film", film) >= 0 && fclose(film) == 0);
    assert_int_equal(cli_parse_command(&command, 4, argv, NULL, &o, &e), CLI_RUN);
    assert_true(command_films_open(&f, &o, o.plan.inputs.argument, o.plan.inputs.count, false, &e));
    assert_true(f.in.count == 1 && f.options.plan.outputs.sound_only && !f.options.plan.cache.off);
    char *made = strdup(f.folder);
    assert_true(stat(made, &st) == 0 && S_ISDIR(st.st_mode));
    command_films_close(&f);
    assert_int_not_equal(stat(made, &st), 0);
    free(made);
}
