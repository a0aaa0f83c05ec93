#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "base/log.h"
#include "cli/cli.h"
#include "cli/completions.h"

static const struct argp_option table[] = {
    {NULL, 0, NULL, 0, "A group:", 1},
    {"output", 'o', "FILE|DIR", 0, "where (the film's stem; here)", 0},
    {"mode", 'm', "MODE[,MODE...]", 0, "", 0},
    {"cache", 300, "DIR", 0, "a [folder]; another", 0},
    {"order", 301, "ORDER", 0, "how: so", 0},
    {"seed", 302, "N", 0, "a number", 0},
    {"steady", 303, "PERCENT", OPTION_ARG_OPTIONAL, "may have one", 0},
    {"quiet", 'q', NULL, 0, "less", 0},
    {"usage", 304, NULL, OPTION_HIDDEN, NULL, 0},
    {0}};

static const char *written(const char *kind)
{
    static char text[1 << 14];
    struct err e = ERR_INIT;
    FILE *f = fmemopen(text, sizeof text, "w");
    if (!completions_write(table, kind, f, &e))
        fail_msg("%s", e.text);
    fclose(f);
    return text;
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text);
}

TEST(bash)
{
    const char *text = written("complete-bash");
    has(text, "        -m | --mode)\n            _barcode_words 'kmeans dominant palette average "
              "squeeze sound spectrum slit all' list\n            return ;;\n");
    has(text,
        "        --order)\n            _barcode_words 'lightness share'\n            return ;;\n");
    has(text, "        -o | --output)\n            return ;;\n");
    has(text, "        --cache)\n            compopt +o default -o dirnames\n");
    has(text, "        --seed)\n            compopt +o default\n");
    has(text, "options='-o --output -m --mode --cache --order --seed --steady -q --quiet ' ;;\n");
    has(text, "        find)\n            options='--same --json --cache --no-cache ");
}

TEST(zsh)
{
    const char *text = written("complete-zsh");
    assert_memory_equal(text, "#compdef barcode\n", 17);
    has(text, "'(-o --output)'{-o+,--output=}'[where]:FILE|DIR:_files' \\\n");
    has(text,
        "'(-m --mode)'{-m+,--mode=}'[how columns become pixels]:mode:_sequence compadd - kmeans ");
    has(text, "'--cache=[a \\[folder\\]]:DIR:_files -/' \\\n");
    has(text, "'--order=[how: so]:ORDER:(lightness share)' \\\n");
    has(text, "'--seed=[a number]:N: ' \\\n");
    has(text, "'--steady=-[may have one]::PERCENT: ' \\\n");
    has(text, "'(-q --quiet)'{-q,--quiet}'[less]' \\\n");
    has(text, "$words[2] == align ]]");
    has(text, "'--exact[place edits to the frame, by the pictures around them]' \\\n");
    assert_null(strstr(text, "usage"));
}

TEST(fish)
{
#define NO_COMMAND "not __fish_seen_subcommand_from align find"
    const char *text = written("complete-fish");
    has(text, "complete -c barcode -n '" NO_COMMAND "' -s o -l output -r -F -d 'where'\n");
    has(text, "-l mode -x -a '(__fish_complete_list , \"string split \\\" \\\" \\\"kmeans ");
    has(text, "complete -c barcode -n '" NO_COMMAND
              "' -l cache -x -a '(__fish_complete_directories)' -d 'a [folder]'\n");
    has(text,
        "complete -c barcode -n '" NO_COMMAND "' -l order -x -a 'lightness share' -d 'how: so'\n");
    has(text, "complete -c barcode -n '" NO_COMMAND "' -l seed -x -d 'a number'\n");
    has(text,
        "complete -c barcode -n __fish_use_subcommand -a find -d 'find the film of a clip'\n");
    has(text, "complete -c barcode -n '__fish_seen_subcommand_from find' -l same -d 'list ");
    has(text, "complete -c barcode -n '" NO_COMMAND "' -l steady -d 'may have one'\n");
    assert_null(strstr(text, "usage"));
}

/* A quote in the text neither ends the shell's string nor is lost. */
TEST(quotes)
{
    static const struct argp_option own[] = {{"x", 300, NULL, 0, "a film's \\ [end]", 0}, {0}};
    static const char *const kind[] = {"complete-zsh", "complete-fish"},
                             *const want[] = {"[a film'\\''s \\\\ \\[end\\]]",
                                              "-d 'a film\\'s \\\\ [end]'\n"};
    for (int i = 0; i < 2; i++) {
        char text[1 << 14];
        struct err e = ERR_INIT;
        FILE *f = fmemopen(text, sizeof text, "w");
        assert_true(completions_write(own, kind[i], f, &e));
        fclose(f);
        has(text, want[i]);
    }
}

/* Every word that is offered is taken. */
TEST(words_are_taken)
{
    static const char *const option[] = {"mode",   "order",    "init",   "size",
                                         "crop",   "tone-map", "light",  "engine",
                                         "decode", "progress", "sandbox"};
    log_set_level(LOG_ERROR);
    for (size_t i = 0; i < sizeof option / sizeof *option; i++) {
        bool list = false;
        char *all = strdup(completions_words(option[i], &list)), *save;
        assert_true(*all);
        assert_int_equal(list, i == 0);
        for (char *word = strtok_r(all, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
            char line[80];
            struct options o;
            struct err e = ERR_INIT;
            snprintf(line, sizeof line, "--%s=%s", option[i], word);
            char program[] = "barcode", film[] = "x.mkv", *argument[] = {program, line, film, NULL};
            if (cli_parse(3, argument, &o, &e) != CLI_RUN)
                fail_msg("%s: %s", line, e.text);
        }
        free(all);
    }
    assert_string_equal(completions_words("seed", NULL), "");
    assert_string_equal(completions_words("page", NULL), /* the man page's list */
                        "A0 A1 A2 A3 A4 A5 A6 B0 B1 B2 B3 B4 B5 B6 Letter Legal Tabloid");
}

TEST(other_kinds)
{
    struct err e = ERR_INIT;
    assert_false(completions_write(table, "complete-csh", stdout, &e));
    assert_int_equal(e.code, ERR_USAGE);
    assert_string_equal(
        e.text, "--generate: 'complete-csh' is not complete-bash, complete-zsh or complete-fish");
}
