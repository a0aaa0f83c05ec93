#include "match.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/path.h"
#include "cache/frame_cache.h"
#include "cli/cli.h"
#include "output/sinks.h"

const struct cli_command *const match_commands[] = {&align_command, &find_command, NULL};

bool command_run(int argc, char **argv, int *status)
{
    for (const struct cli_command *const *c = match_commands; *c; c++)
        if (argc > 1 && strcmp(argv[1], (*c)->name) == 0) {
            interrupt_install();
            *status = (*c)->run(argc, argv);
            return true;
        }
    return false;
}

/* ---- The films ---- */

/* Removes the folder of a temporary cache with its files. */
static void remove_folder(const char *path)
{
    DIR *folder = opendir(path);
    for (const struct dirent *d; folder && (d = readdir(folder));)
        (void)unlinkat(dirfd(folder), d->d_name, 0);
    if (folder) {
        closedir(folder);
        (void)rmdir(path);
    }
}

/* Makes a temporary cache if the user has none, or wants none. */
static bool choose_cache(struct command_films *f, struct err *e)
{
    struct cache_options *cache = &f->options.plan.cache;
    char folder[PATH_MAX];
    frame_cache_check_folder(cache);
    if (!cache->off && cache_options_folder(cache, folder, sizeof folder))
        return true;
    char *made = path_join(dump_scratch_folder(), "barcode-XXXXXX", "", e);
    if (!made)
        return false;
    if (!mkdtemp(made)) {
        err_set(e, ERR_FAILED, "cannot make a folder in '%s': %s", dump_scratch_folder(),
                strerror(errno));
        free(made);
        return false;
    }
    cache->off = false;
    cache->temporary = true;
    cache->folder = f->folder = made;
    return true;
}

bool command_films_open(struct command_films *f, const struct options *o, char **word, size_t words,
                        bool recursive, struct err *e)
{
    *f = (struct command_films){.options = *o};
    f->options.plan.inputs.argument = word;
    f->options.plan.inputs.count = words;
    if (!cli_complete(&f->options, e) || !choose_cache(f, e))
        return false;
    f->options.plan.outputs.sound_only = true;
    f->options.plan.inputs.recursive = recursive;
    return inputs_expand(&f->options.plan.inputs, &f->options.plan.outputs, &f->in, e);
}

int command_films_render(const struct command_films *f, const struct plan *plan, bool quiet,
                         const struct batch_sink *sink)
{
    struct output_plan outputs;
    struct err e = ERR_INIT;
    const struct batch_run run = {.plan = plan,
                                  .inputs = &f->in,
                                  .outputs = &outputs,
                                  .batch = &f->options.batch,
                                  .engine = &f->options.engine,
                                  .process = &f->options.process,
                                  .sink = sink};
    bool lower = quiet && log_enabled(LOG_INFO) && !log_enabled(LOG_VERBOSE);
    if (lower)
        log_set_level(LOG_WARNING);
    int status = outputs_plan(plan, &f->in, &outputs, &e) ? batch_render(&run) : log_error(&e);
    outputs_free(&outputs);
    if (lower)
        log_set_level(LOG_INFO);
    return status;
}

bool command_films_sound(const struct command_films *f, size_t i, struct film_sound *sound)
{
    const struct plan *o = &f->options.plan;
    struct cache_options cache = o->cache;
    cache.refresh = false;
    cache.limit = UINT64_MAX - 1; /* nothing is written; the default would be computed */
    return sound_cache_load(&cache, f->in.path[i], f->in.parts[i], o->film.stream,
                            o->film.sound_stream, sound);
}

void command_films_close(struct command_films *f)
{
    inputs_free(&f->in);
    if (f->folder && !batch_is_worker())
        remove_folder(f->folder);
    free(f->folder);
    *f = (struct command_films){0};
}
