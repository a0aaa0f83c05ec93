#include <string.h>

#include "test.h"
#include "cli/cli_help.h"

static const struct argp_option table[] = {
    {NULL, 0, NULL, 0, "A group:", 1},
    {"often", 'o', "FILE", CLI_COMMON, "what -h shows", 0},
    {"seldom", 's', NULL, 0, "what --help alone shows", 0},
    {NULL, 0, NULL, 0, "Another group:", 2},
    {"maybe", 300, "N", OPTION_ARG_OPTIONAL | CLI_COMMON, "with a value or without", 0},
    {NULL, 'h', NULL, CLI_COMMON, "a letter alone", -1},
    {"usage", 301, NULL, OPTION_HIDDEN, NULL, 0},
    {0}};

static char *filter(int key, const char *text, void *input)
{
    (void)input;
    if (key == 'o')
        return strdup("the filter's text");
    return key == ARGP_KEY_HELP_DUP_ARGS_NOTE ? NULL : text ? strdup(text) : NULL;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    if (key == 'h')
        cli_print_short_help(state, state->input);
    return 0;
}

static const char *printed(void)
{
    static const struct argp whole = {.options = table,
                                      .parser = parse_option,
                                      .args_doc = "FILM",
                                      .doc = "the whole help",
                                      .help_filter = filter};
    static char text[1 << 12], name[] = "barcode", option[] = "-h";
    char *argument[] = {name, option, NULL};
    FILE *f = fmemopen(text, sizeof text, "w");
    assert_non_null(f);
    assert_int_equal(argp_parse(&whole, 2, argument, ARGP_NO_HELP | ARGP_NO_EXIT, NULL, f), 0);
    fclose(f);
    return text;
}

TEST(common_options_are_shown)
{
    const char *text = printed();
    assert_memory_equal(text, "Usage: barcode [OPTION...] FILM\n", 32);
    assert_non_null(strstr(text, "  -o, --often=FILE           the filter's text\n"));
    assert_non_null(strstr(text, "      --maybe[=N]            with a value or without\n"));
    assert_non_null(strstr(text, "  -h                         a letter alone\n"));
}

TEST(the_rest_is_not)
{
    static const char *const absent[] = {"seldom", "group", "usage\n", "the whole help",
                                         "andatory"};
    const char *text = printed();
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        assert_null(strstr(text, absent[i]));
}

TEST(three_examples_follow)
{
    int examples = 0;
    for (const char *t = printed(); (t = strstr(t, "\n  barcode ")); t++)
        examples++;
    assert_int_equal(examples, 3);
}
