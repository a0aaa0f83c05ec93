/* fuzz_cli.c - the command line: byte 0 picks the parser; the rest is its text, words divided by
 * newlines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "match/match.h"
#include "fuzz.h"
#include "../unit/set_option.h"

enum { WORDS_MAX = 60 };

static void check_options(const struct options *options)
{
    const struct plan *o = &options->plan;
    bool films = o->inputs.count >= 1 && o->inputs.argument && o->inputs.argument[0];
    fuzz_demand(films != cache_options_action(&o->cache));
    fuzz_demand(o->kmeans.k >= 1 && o->kmeans.k <= CLUSTERS_MAX && o->kmeans.n_init >= 1 &&
                o->kmeans.n_init <= 1000);
    fuzz_demand(o->kmeans.max_iter >= 1 && o->kmeans.max_iter <= 100000);
    fuzz_demand(o->kmeans.init >= INIT_SCALABLE && o->kmeans.init <= INIT_RANDOM);
    fuzz_demand(o->film.selection.start_us >= 0 &&
                o->film.selection.end_us > o->film.selection.start_us);
    fuzz_demand(o->film.selection.kind != SELECT_INTERVAL || o->film.selection.interval_us >= 1);
    fuzz_demand(o->film.selection.kind != SELECT_COLUMNS || o->film.selection.columns >= 1);
    fuzz_demand(o->picture.width >= 0 && o->picture.height >= 1 && options->process.threads >= 0 &&
                options->process.threads <= 1024);
    fuzz_demand(o->picture.strips >= 1 && o->picture.strips <= strip_count &&
                (!o->picture.stacked || o->picture.strips > 1));
    fuzz_demand(o->outputs.extras <= writer_count);
    int w, h;
    size_resolve(&o->film.size, 1920, 1080, &w, &h);
    fuzz_demand(w >= 1 && w <= 1920 && h >= 1 && h <= 1080);
}

/* `text` is cut into words in place. */
static void parse_line(char *text)
{
    static char name[] = "barcode";
    char *word[WORDS_MAX + 2] = {name}, *save = NULL;
    int count = 1;
    for (char *w = strtok_r(text, "\n", &save); w && count <= WORDS_MAX;
         w = strtok_r(NULL, "\n", &save))
        word[count++] = w;
    struct options o;
    struct err e = ERR_INIT;
    enum cli_result result = cli_parse(count, word, match_commands, &o, &e);
    fuzz_demand((result == CLI_BAD) == (e.code != ERR_NONE));
    fuzz_demand(result != CLI_BAD || e.text[0]);
    if (result == CLI_RUN)
        check_options(&o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool quiet;
    if (!quiet)
        quiet = freopen("/dev/null", "w", stdout) != NULL; /* --help is answered there */
    if (size < 1)
        return 0;
    char *text = (char *)fuzz_copy(data, size);
    memmove(text, text + 1, size - 1);
    text[size - 1] = 0;
    int64_t us = -1;
    struct options o = {.plan.kmeans.k = 0};
    struct err e = ERR_INIT;
    switch (data[0] % 4) {
    case 0: fuzz_demand(!option_read_time(text, &us) || us >= 0); break;
    case 1:
        if (set_option(&o, "size", text, &e)) {
            int w, h;
            size_resolve(&o.plan.film.size, 720, 576, &w, &h);
            fuzz_demand(w >= 1 && w <= 720 && h >= 1 && h <= 576);
        }
        break;
    case 2: fuzz_demand(set_option(&o, "mode", text, &e) == (e.code == ERR_NONE)); break;
    default: parse_line(text); break;
    }
    free(text);
    return 0;
}
