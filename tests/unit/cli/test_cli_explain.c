#include <stdio.h>
#include <string.h>

#include "test.h"
#include "cli/cli.h"

static struct options o;

/* Parses "barcode " and the words of `line`. */
static enum cli_result parse(const char *line, struct err *e)
{
    static char words[256], program[] = "barcode", *argument[32];
    char *save = NULL;
    int count = 0;
    argument[count++] = program;
    snprintf(words, sizeof words, "%s", line);
    for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
        argument[count++] = w;
    argument[count] = NULL;
    return cli_parse(count, argument, &o, e);
}

static void bad(const char *line, const char *sentence)
{
    struct err e = ERR_INIT;
    assert_int_equal(parse(line, &e), CLI_BAD);
    assert_int_equal(e.code, ERR_USAGE);
    assert_string_equal(e.text, sentence);
}

/* getopt takes "--k" for --keyframes and ffmpeg's "-output" for -o utput. */
TEST(options_are_exact)
{
    bad("--k 5 f", "unknown option '--k'; did you mean -k?");
    bad("f --k=5", "unknown option '--k'; did you mean -k?");
    bad("f --clus 3", "unknown option '--clus'; did you mean --clusters?");
    bad("f --clusters 3 --verb", "unknown option '--verb'; did you mean --verbose?");
    bad("f --st 3", "unknown option '--st'; did you mean --steady, --start, --stream, --strict?");
    bad("f --th 3", "unknown option '--th'; did you mean --thumbnails, --threads?");
    bad("f --c 3", "unknown option '--c'; see --help");
    bad("f --heigth=3", "unknown option '--heigth'; did you mean --height?");
    bad("f -output x.png", "unknown option '-output'; did you mean --output?");
    bad("f -start 10", "unknown option '-start'; did you mean --start?");
    bad("f -version", "unknown option '-version'; did you mean --version?");
    bad("-i f", "unknown option '-i'; name the FILM without an option");
    bad("f -y", "unknown option '-y'; did you mean --overwrite?");
    bad("f --force", "unknown option '--force'; did you mean --overwrite?");
    bad("f -ss 10 -to 20", "unknown option '-ss'; did you mean --start?");
    bad("f -T4", "unknown option '-T'; did you mean --threads?");
    bad("f --key --help", "unknown option '--key'; did you mean --keyframes?");
    struct err e = ERR_INIT;
    assert_int_equal(parse("f -k5 -qr -osteady -- --k -start", &e), CLI_RUN);
    assert_int_equal(o.kmeans.k, 5);
    assert_string_equal(o.outputs.path, "steady");
    assert_int_equal(o.inputs.count, 3);
}
