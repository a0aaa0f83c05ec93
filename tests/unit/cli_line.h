/* cli_line.h - a command line in one string, and what is expected of it. */
#ifndef BARCODE_TEST_CLI_LINE_H
#define BARCODE_TEST_CLI_LINE_H

#include <stdio.h>
#include <string.h>

#include "test.h"
#include "base/log.h"
#include "cli/cli.h"
#include "set_option.h"

static char *argument[64];
static struct options o;
static struct err e;

/* Parses "barcode " and the words of `line`. */
static enum cli_result parse(const char *line)
{
    static char program[] = "barcode", words[1024];
    int count = 0;
    argument[count++] = program;
    snprintf(words, sizeof words, "%s", line);
    for (char *save = NULL, *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
        argument[count++] = w;
    argument[count] = NULL;
    err_clear(&e);
    log_set_level(LOG_INFO);
    return cli_parse(count, argument, NULL, &o, &e);
}

static void good(const char *line)
{
    if (parse(line) != CLI_RUN)
        fail_msg("'%s' was refused: %s", line, e.text);
}

static void bad(const char *line, const char *sentence)
{
    assert_int_equal(parse(line), CLI_BAD);
    assert_string_equal(e.text, sentence);
    assert_int_equal(e.code, ERR_USAGE);
}

/* An option refuses each of these values, with a sentence that has this part. */
static inline void refuses(const char *option, const char *part, const char *const *value)
{
    for (; *value; value++) {
        err_clear(&e);
        if (set_option(&o, option, *value, &e) || e.code != ERR_USAGE || !strstr(e.text, part))
            fail_msg("--%s '%s': '%s'", option, *value, e.text);
    }
}

#define REFUSES(option, part, ...) refuses(option, part, (const char *const[]){__VA_ARGS__, NULL})

#endif
