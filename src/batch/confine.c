#include "confine.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "barcode/base/atomic_file.h"
#include "barcode/base/file.h"
#include "barcode/base/log.h"
#include "barcode/base/path.h"
#include "barcode/base/sandbox.h"
#include "barcode/base/sandbox_places.h"
#include "barcode/media/playlists.h"
#include "barcode/cli/outputs.h"
#include "barcode/output/dump.h"
#include "barcode/output/paint.h"

enum { READ = SANDBOX_READ, WRITE = SANDBOX_WRITE, DEVICE = SANDBOX_DEVICE };

struct confinement {
    char **made; /* folders that did not exist, parents first */
    size_t count, room;
    bool letters; /* paint_has_letters was called */
};

/* ---- Films ---- */

/* Allows what is in the folder of a file and below. */
static bool allow_folder(struct sandbox *s, const char *path, unsigned access, struct err *e)
{
    char *folder = path_beside(path, ".", e);
    bool ok = folder && sandbox_allow(s, folder, access, e);
    free(folder);
    return ok;
}

/* Allows a film's files. A sequence of images has too many for a rule each: their folder. */
static bool allow_film(struct sandbox *s, const char *path, const struct film_parts *parts,
                       struct err *e)
{
    bool images = parts && parts->rate_num > 0, ok = true;
    for (size_t i = 0; i < film_files_count(parts) && ok; i++) {
        const char *file = film_file(path, parts, i);
        int fd = file_descriptor(file);
        ok = (fd < 0 || sandbox_keep(s, fd, e)) &&
             (images || playlists_may_be(file) ? allow_folder(s, file, READ, e)
                                               : sandbox_allow(s, file, READ, e));
    }
    return ok;
}

/* ---- Outputs ---- */

/* Returns the folder that outputs_make_folders makes first, or NULL; the caller frees it. */
static char *first_folder(const struct output *output)
{
    const char *slash = output->below ? strchr(output->below, '/') : NULL;
    return slash ? strndup(output->path, (size_t)(slash - output->path)) : NULL;
}

/*
 * Allows an output to be written: its folder, and its own older version to be read. A device or
 * pipe has no folder. A link leads to the folder of the file that it names.
 */
static bool allow_output(struct sandbox *s, const struct output *output, struct err *e)
{
    struct stat st;
    const char *path = output->path;
    const struct writer *w = output->writer;
    bool there = stat(path, &st) == 0;
    int fd = file_descriptor(path);
    if (outputs_is_stdout(path))
        return true;
    if (fd >= 0)
        return sandbox_keep(s, fd, e);
    if (there && !S_ISREG(st.st_mode))
        return S_ISDIR(st.st_mode) || sandbox_allow(s, path, WRITE | DEVICE, e);
    char *folder = first_folder(output), *target = atomic_file_target(path);
    /* Only thumbnails and sheets have files whose names are not known here. */
    unsigned access = w && w->beside   ? READ | WRITE | SANDBOX_FOLDERS
                      : w && w->folder ? READ | WRITE
                                       : WRITE;
    bool ok = (folder ? sandbox_allow(s, folder, access, e) : allow_folder(s, path, WRITE, e)) &&
              (!target || strcmp(target, path) == 0 || allow_folder(s, target, WRITE, e)) &&
              (!there || sandbox_allow(s, path, READ, e));
    free(folder);
    free(target);
    return ok;
}

/* Calls `each` with the outputs of a film; the dump last. */
typedef bool visit_output(void *user, const struct output *output, struct err *e);

static bool each_output(const struct render *r, size_t film, visit_output *each, void *user,
                        struct err *e)
{
    struct outputs list;
    struct err none = ERR_INIT;
    bool ok = true;
    if (!outputs_of(r->options, r->inputs, film, &list, &none))
        return true; /* rendering the film reports the error */
    for (size_t k = 0; k < list.count && ok; k++)
        ok = each(user, &list.output[k], e);
    ok = ok && (!list.dump.path || each(user, &list.dump, e));
    outputs_free(&list);
    return ok;
}

static bool visit_allow(void *user, const struct output *output, struct err *e)
{
    return allow_output(user, output, e);
}

static bool visit_letters(void *user, const char *path, struct err *e)
{
    return sandbox_allow(user, path, READ, e);
}

/* Allows what the run as a whole writes and reads. */
static bool allow_run(struct sandbox *s, const struct options *o, struct err *e)
{
    char cache[PATH_MAX];
    const char *gallery = outputs_gallery(o);
    bool ok = paint_letter_places(visit_letters, s, e);
    if (!o->cache.off && cache_options_folder(&o->cache, cache, sizeof cache))
        ok = ok && sandbox_allow(s, cache, READ | WRITE, e);
    /* The process that renders also writes the gallery if no worker could be started. */
    if (gallery)
        ok = ok && allow_folder(s, gallery, READ | WRITE, e);
    for (size_t i = 0; i < o->extras; i++)
        if (o->extra[i].writer->spectrum)
            ok = ok && sandbox_allow(s, dump_scratch_folder(), READ | WRITE, e);
    if (o->dump && (file_descriptor(o->dump) >= 0 || !file_is_regular(o->dump)))
        ok = ok && sandbox_allow(s, dump_scratch_folder(), READ | WRITE, e);
    return ok;
}

/* ---- The GPU ---- */

/* Returns true if a film may be decoded or clustered by a GPU of this machine. */
static bool may_use_gpu(const struct options *o)
{
    if (o->engine == ENGINE_CPU && o->decode == DECODE_CPU)
        return false;
    return sandbox_gpu_exists();
}

/* ---- The process ---- */

static bool allow_all(struct sandbox *s, const struct render *r, struct err *e)
{
    const struct inputs *in = r->inputs;
    bool ok = sandbox_allow_libraries(s, e) && allow_run(s, r->options, e) &&
              (!may_use_gpu(r->options) || sandbox_allow_nvidia(s, e));
    for (size_t i = 0; i < in->count && ok; i++)
        if (inputs_is_due(in, i))
            ok =
                allow_film(s, in->path[i], in->parts[i], e) && each_output(r, i, visit_allow, s, e);
    return ok;
}

/*
 * Returns --sandbox. A sanitizer (SANITIZED, by the Makefile) executes a symbolizer and reads its
 * suppressions when the process ends, so its builds are confined only on demand.
 */
static enum sandbox_choice choice_of(const struct render *r)
{
#ifdef SANITIZED
    if (r->options->sandbox == SANDBOX_AUTO)
        return SANDBOX_OFF;
#endif
    return r->options->sandbox;
}

bool confinement_enter(const struct render *r, struct err *e)
{
    if (choice_of(r) == SANDBOX_OFF)
        return true;
    struct sandbox *s = sandbox_new(e);
    bool ok = s && allow_all(s, r, e) && sandbox_enter(s, e);
    sandbox_free(&s);
    if (ok || choice_of(r) == SANDBOX_REQUIRE)
        return ok || err_prefix(e, "--sandbox=require");
    if (!sandbox_missing()) /* confinement_open has logged that */
        log_msg(LOG_VERBOSE, "the sandbox is incomplete: %s", e->text);
    err_clear(e);
    return true;
}

/* Makes a folder. Errors are reported when something is written to it. */
static bool make_folder(struct confinement *c, const char *path, mode_t mode, struct err *e)
{
    if (mkdir(path, mode) != 0)
        return true;
    if (!err_reserve(&c->made, c->count + 1, &c->room, sizeof *c->made, e))
        return false;
    if (!(c->made[c->count] = strdup(path)))
        return err_memory(e, strlen(path) + 1);
    c->count++;
    return true;
}

/* Images of several modes have labels, for which paint_letter_places must know the fonts. */
static bool visit_make(void *user, const struct output *output, struct err *e)
{
    struct confinement *c = user;
    struct err none = ERR_INIT;
    char *folder = first_folder(output);
    bool ok = !folder || make_folder(c, folder, 0777, e);
    if (output->strips.count > 1 && !c->letters)
        (void)paint_has_letters(&none); /* labels are optional */
    c->letters |= output->strips.count > 1;
    free(folder);
    return ok;
}

/* Makes a folder and its missing parents. */
static bool make_path(struct confinement *c, char *path, struct err *e)
{
    bool ok = true;
    for (char *slash = strchr(path + 1, '/'); slash && ok; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        ok = make_folder(c, path, 0700, e);
        *slash = '/';
    }
    return ok && make_folder(c, path, 0700, e);
}

static bool make_all(struct confinement *c, const struct render *r, struct err *e)
{
    char path[PATH_MAX];
    const struct cache_options *cache = &r->options->cache;
    bool ok = true;
    if (!cache->off && cache_options_folder(cache, path, sizeof path))
        ok = make_path(c, path, e);
    if (may_use_gpu(r->options) && sandbox_compiled_kernels(path, sizeof path))
        ok = ok && make_path(c, path, e);
    for (size_t i = 0; i < r->inputs->count && ok; i++)
        if (inputs_is_due(r->inputs, i))
            ok = each_output(r, i, visit_make, c, e);
    return ok;
}

struct confinement *confinement_open(const struct render *r, struct err *e)
{
    enum sandbox_choice choice = choice_of(r);
    const char *missing = choice == SANDBOX_OFF ? NULL : sandbox_missing();
    struct confinement *c = err_calloc(1, sizeof *c, e);
    if (!c)
        return NULL;
    if (missing && choice == SANDBOX_REQUIRE)
        err_set(e, ERR_FAILED, "--sandbox=require: the kernel lacks %s", missing);
    else if (missing)
        log_msg(LOG_VERBOSE, "the sandbox is incomplete: the kernel lacks %s", missing);
    if (choice != SANDBOX_OFF && may_use_gpu(r->options))
        sandbox_make_devices();
    if (e->code != ERR_NONE || (choice != SANDBOX_OFF && !make_all(c, r, e)))
        confinement_close(&c, true);
    return c;
}

void confinement_close(struct confinement **c, bool remove)
{
    if (!*c)
        return;
    while ((*c)->count > 0) {
        char *path = (*c)->made[--(*c)->count];
        if (remove)
            (void)rmdir(path);
        free(path);
    }
    free((*c)->made);
    free(*c);
    *c = NULL;
}
