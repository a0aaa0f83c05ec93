#include "film_process.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "base/sandbox.h"
#include "media/container/playlists.h"
#include "output/poster/poster.h"

/* ---- The GPU ---- */

/* Returns true if a film may be decoded or clustered by a GPU of this machine. */
static bool may_use_gpu(const struct job_context *c)
{
    if (!engines_have_gpu(c->engines) && c->plan->film.decode == DECODE_CPU)
        return false;
    return sandbox_gpu_exists();
}

/* ---- Films ---- */

/* Allows what is in the folder of a file and below. */
static bool allow_folder(struct sandbox *s, const char *path, struct err *e)
{
    char *folder = path_beside(path, ".", e);
    bool ok = folder && sandbox_allow(s, folder, SANDBOX_READ, e);
    free(folder);
    return ok;
}

/*
 * Allows the files of films in several files, which libavformat's concat opens by their names. A
 * sequence of images has too many for a rule each: their folder.
 */
static bool allow_parts(struct sandbox *s, const struct inputs *in, size_t film, struct err *e)
{
    const struct film_parts *parts = in->parts[film];
    bool ok = true;
    if (!parts)
        return !playlists_is_concat(in->path[film]) || allow_folder(s, in->path[film], e);
    for (size_t i = 0; i < parts->count && ok; i++)
        ok = parts->rate_num > 0 ? allow_folder(s, parts->part[i].path, e)
                                 : sandbox_allow(s, parts->part[i].path, SANDBOX_READ, e);
    return ok;
}

/* ---- The process ---- */

static bool visit_letters(void *user, const char *path, struct err *e)
{
    return sandbox_allow(user, path, SANDBOX_READ, e);
}

/* Allows what a worker opens by name: all that the parent does not open for it. */
static bool allow_all(struct sandbox *s, const struct job_context *context, const struct worker *w,
                      struct err *e)
{
    const struct cache_options *o = &context->plan->cache;
    char cache[PATH_MAX];
    bool has_cache = !o->off && cache_options_folder(o, cache, sizeof cache);
    bool ok = sandbox_keep(s, w->link, e) && sandbox_allow_libraries(s, e) &&
              paint_letter_places(visit_letters, s, e) &&
              (!may_use_gpu(context) || sandbox_allow_nvidia(s, e)) &&
              (!has_cache || sandbox_allow(s, cache, SANDBOX_READ | SANDBOX_WRITE, e));
    for (size_t i = 0; i < context->inputs->count && ok; i++)
        ok = !inputs_is_due(context->inputs, i) || allow_parts(s, context->inputs, i, e);
    return ok;
}

/* Keeps the inherited descriptor that `path` names, if any; of a standard stream, in `*streams`. */
static bool keep_descriptor(struct sandbox *s, const char *path, unsigned *streams, struct err *e)
{
    int fd = path ? file_descriptor(path) : -1;
    if (fd > STDERR_FILENO)
        return sandbox_keep(s, fd, e);
    *streams |= fd < 0 ? 0 : 1U << fd;
    return true;
}

/* Keeps inherited descriptors that are films or outputs: what they are is asked by their names. */
static bool keep_descriptors(struct sandbox *s, const struct job_context *context, struct err *e)
{
    const struct outputs_options *o = &context->plan->outputs;
    unsigned streams = 0;
    bool ok = keep_descriptor(s, o->path, &streams, e) && keep_descriptor(s, o->dump, &streams, e);
    for (size_t i = 0; i < o->extras && ok; i++)
        ok = keep_descriptor(s, o->extra[i].path, &streams, e);
    for (size_t i = 0; i < context->inputs->count && ok; i++)
        ok = !inputs_is_due(context->inputs, i) ||
             keep_descriptor(s, context->inputs->path[i], &streams, e);
    worker_leave_streams(streams);
    return ok;
}

bool confinement_enter(const struct batch *b, const struct worker *w, struct err *e)
{
    const enum sandbox_choice choice = sandbox_choice_of(b->sandbox);
    if (choice == SANDBOX_OFF)
        return true;
    struct sandbox *s = sandbox_new(e);
    if (s && keep_descriptors(s, b->context, e))
        (void)allow_all(s, b->context, w, e);
    bool ok = sandbox_enter_by(choice, s, e);
    sandbox_free(&s);
    return ok;
}

bool confinement_prepare(const struct batch *b, struct err *e)
{
    const struct plan *plan = b->context->plan;
    char path[PATH_MAX];
    struct err none = ERR_INIT;
    const enum sandbox_choice choice = sandbox_choice_of(b->sandbox);
    if (choice == SANDBOX_OFF)
        return true;
    if (!sandbox_prepare(choice, e))
        return false;
    if (may_use_gpu(b->context))
        sandbox_make_devices();
    if (!plan->cache.off && cache_options_folder(&plan->cache, path, sizeof path))
        (void)path_make_folders(path, 0700);
    if (may_use_gpu(b->context) && sandbox_compiled_kernels(path, sizeof path))
        (void)path_make_folders(path, 0700);
    /* paint_letter_places must know the fonts of labels */
    if (plan->picture.strips > 1)
        (void)paint_has_letters(&none); /* labels are optional */
    return true;
}
