#include <string.h>

#include "test.h"
#include "match/match.h"
#include "set_option.h"

static const char *written(const char *kind)
{
    static char text[1 << 16];
    struct err e = ERR_INIT;
    FILE *f = fmemopen(text, sizeof text, "w");
    assert_ok(cli_write_completions(kind, match_commands, f, &e), &e);
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
    has(text, "        -o | --output | --html | --json | ");
    has(text, "        --thumbnails | --trickplay-dir | --cache)\n"
              "            compopt +o default -o dirnames\n");
    has(text, " | --max-pixels)\n            compopt +o default\n");
    has(text, " -o --output --name -m --mode --width ");
    has(text, " -V --version ' ;;\n");
    assert_null(strstr(text, "usage"));
    has(text, "        find)\n            options='--same --json --cache --no-cache ");
}

TEST(zsh)
{
    const char *text = written("complete-zsh");
    assert_memory_equal(text, "#compdef barcode\n", 17);
    has(text, "'(-o --output)'{-o+,--output=}'[output file (.png, .jpg, .webp, .pdf, .svg, .html), "
              "folder, or - for stdout "
              "(FILM.png in the working directory)]:FILE|DIR:_files' \\\n");
    has(text,
        "'(-m --mode)'{-m+,--mode=}'[how columns become pixels]:mode:_sequence compadd - kmeans ");
    has(text, "'--cache=[cache folder, - for none (~/.cache/barcode)]:DIR:_files -/' \\\n");
    has(text,
        "'--order=[palette: order by lightness (default) or share]:ORDER:(lightness share)' \\\n");
    has(text, "'--seed=[random seed (0)]:N: ' \\\n");
    has(text, "'--steady=-[kmeans, dominant: remove flicker]::PERCENT: ' \\\n");
    has(text, "'(-q --quiet)'{-q,--quiet}'[print errors only]' \\\n");
    has(text, "$words[2] == align ]]");
    has(text, "'--exact[place edits to the frame, by the pictures around them]' \\\n");
    assert_null(strstr(text, "usage"));
}

TEST(fish)
{
#define NO_COMMAND "not __fish_seen_subcommand_from align find"
    const char *text = written("complete-fish");
    has(text, "complete -c barcode -n '" NO_COMMAND "' -s o -l output -r -F -d 'output file ");
    has(text, "-l mode -x -a '(__fish_complete_list , \"string split \\\" \\\" \\\"kmeans ");
    has(text,
        "complete -c barcode -n '" NO_COMMAND "' -l cache -x -a '(__fish_complete_directories)' -d "
        "'cache folder, - for none (~/.cache/barcode)'\n");
    has(text, "complete -c barcode -n '" NO_COMMAND
              "' -l order -x -a 'lightness share' -d 'palette: order by "
              "lightness (default) or share'\n");
    has(text, "complete -c barcode -n '" NO_COMMAND "' -l seed -x -d 'random seed (0)'\n");
    has(text,
        "complete -c barcode -n __fish_use_subcommand -a find -d 'find the film of a clip'\n");
    has(text, "complete -c barcode -n '__fish_seen_subcommand_from find' -l same -d 'list ");
    has(text, "complete -c barcode -n '" NO_COMMAND
              "' -l steady -d 'kmeans, dominant: remove flicker'\n");
    assert_null(strstr(text, "usage"));
}

/* A quote in the text neither ends the shell's string nor is lost. */
TEST(quotes)
{
    has(written("complete-zsh"), "'--no-join[do not join a film'\\''s chapters (GoPro, DVD)]'");
    has(written("complete-fish"), "-l no-join -d 'do not join a film\\'s chapters (GoPro, DVD)'\n");
}

/* Every word that is offered is taken. */
TEST(words_are_taken)
{
    struct cli_rows rows;
    size_t words = 0;
    cli_rows_of_films(&rows, NULL);
    for (size_t i = 0; i < rows.count; i++) {
        const struct option_row *row = &rows.at[i].row;
        for (size_t k = 0; row->group != OPTION_ANSWER && option_word(row, k); k++, words++) {
            struct options o;
            struct err e = ERR_INIT;
            cli_set_defaults(&o);
            if (!set_option(&o, row->name, option_word(row, k), &e) && e.code != ERR_ENGINE)
                fail_msg("%s", e.text);
        }
    }
    assert_true(words > 50);
    const struct cli_row *page = cli_row_by_name(&rows, "page", 4);
    for (size_t i = 0; paper_name(i); i++)
        assert_string_equal(option_word(&page->row, i), paper_name(i));
}

TEST(other_kinds)
{
    struct err e = ERR_INIT;
    assert_false(cli_write_completions("complete-csh", match_commands, stdout, &e));
    assert_int_equal(e.code, ERR_USAGE);
    assert_string_equal(
        e.text, "--generate: 'complete-csh' is not complete-bash, complete-zsh or complete-fish");
}
