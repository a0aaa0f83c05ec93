#include "plan.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "barcode/base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "options_fingerprint.h"
#include "outputs.h"

/* ---- --shard ---- */

/* An entry of the list, for sorting by size. */
struct piece {
    uint64_t bytes;
    size_t entry;
};

static int by_size(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->entry < y->entry ? -1 : x->entry > y->entry;
}

static size_t lightest(const uint64_t *load, size_t shards)
{
    size_t best = 0;
    for (size_t i = 1; i < shards; i++)
        if (load[i] < load[best])
            best = i;
    return best;
}

/*
 * Returns true for an entry that every process reports: other processes may see what this one does
 * not.
 */
static bool is_everybodys(const struct inputs *in, size_t i)
{
    return in->problem[i].code != ERR_NONE || in->file[i].absent;
}

bool shard_split(const struct inputs_options *o, struct inputs *in, struct err *e)
{
    size_t shards = (size_t)o->shards;
    if (shards == 0)
        return true;
    struct piece *piece = calloc(in->count + 1, sizeof *piece);
    uint64_t *load = calloc(shards, sizeof *load);
    bool ok = piece && load;
    if (!ok)
        err_memory(e, in->count * sizeof *piece + shards * sizeof *load);
    size_t count = 0;
    for (size_t i = 0; ok && i < in->count; i++)
        if (!is_everybodys(in, i))
            piece[count++] =
                (struct piece){.bytes = in->file[i].bytes > 0 ? in->file[i].bytes : 1, .entry = i};
    if (ok)
        qsort(piece, count, sizeof *piece, by_size);
    for (size_t i = 0; i < count; i++) {
        size_t to = lightest(load, shards);
        load[to] += piece[i].bytes;
        if (to + 1 != (size_t)o->shard)
            in->duty[piece[i].entry] = INPUT_OTHERS;
    }
    free(piece);
    free(load);
    return ok;
}

/* ---- --update ---- */

/* A film and what is known about it; each fact is read at most once. */
struct question {
    const struct plan *plan;
    const char *path;
    const struct film_parts *parts;
    struct input_file file;
    char id[FILM_ID_TEXT]; /* "": not read yet, or the film has none */
    /* metadata of an output that has columns; otherwise columns is 0 */
    struct writer_metadata reference;
};

/*
 * Returns true if the film was modified after the output. Ignores modification times in the future,
 * which come from a wrong clock.
 */
static bool written_since(const struct question *q, const struct stat *output)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return q->file.regular && q->file.modified_ns > clock_in_ns(output->st_mtim) &&
           q->file.modified_ns <= clock_in_ns(now);
}

/* Returns true if `film` identifies this film. Call it last, because it reads the film. */
static bool is_of(struct question *q, const char *film)
{
    struct err e = ERR_INIT;
    return film[0] && (q->id[0] || film_id_of(q->path, q->parts, q->id, &e)) &&
           strcmp(q->id, film) == 0;
}

/*
 * Returns why an output must be made, or NULL if it is up to date. Fills `*metadata` if barcode
 * made the existing file.
 */
static const char *why_output(struct question *q, const struct output *output,
                              struct writer_metadata *metadata)
{
    struct stat s;
    const struct output_kind *kind = output->kind;
    *metadata = (struct writer_metadata){.columns = 0};
    if (outputs_is_stdout(output->path) || stat(output->path, &s) != 0)
        return "does not exist";
    if (!writer_has_metadata(kind->writer) || !S_ISREG(s.st_mode))
        return "has no metadata";
    if (!writer_read_metadata(kind->writer, output->path, metadata))
        return "is incomplete";
    if (fingerprint_is_again(metadata->fingerprint, NULL))
        return "was made when the film could not be read, or changed";
    if (strcmp(kind->fingerprint, metadata->fingerprint) != 0)
        return "was made with other options";
    if (q->plan->outputs.strict && metadata->partial)
        return "shows only a part (--strict)";
    if (written_since(q, &s))
        return "is older than the film";
    if (kind->writer->beside)
        metadata->columns = 0; /* they are not those of the dump */
    return is_of(q, metadata->film) ? NULL : "shows another film";
}

/* As why_output, for the dump: compares its size with another output's metadata. */
static const char *why_dump(const struct question *q, const char *path)
{
    struct stat s;
    const struct writer_metadata *t = &q->reference;
    if (outputs_is_stdout(path) || stat(path, &s) != 0)
        return "does not exist";
    if (!S_ISREG(s.st_mode) ||
        (uint64_t)s.st_size != t->columns * (uint64_t)t->width * (uint64_t)t->height * 3)
        return "is incomplete";
    return written_since(q, &s) ? "is older than the film" : NULL;
}

/*
 * Returns why the film must be rendered, and sets `*which` to the path of the first output
 * concerned. Returns NULL if all outputs are up to date. Sets which outputs may be replaced.
 */
static const char *why_film(struct question *q, struct outputs *list, const char **which)
{
    const char *why = NULL;
    bool again = false;
    *which = list->output[0].path;
    for (size_t k = 0; k < list->count; k++) {
        struct output *output = &list->output[k];
        const bool dump = !output->kind->writer; /* the last */
        struct writer_metadata metadata = {.columns = 0};
        const char *reason = dump ? why_dump(q, output->path) : why_output(q, output, &metadata);
        if (reason && !why)
            *which = output->path;
        why = why ? why : reason;
        again |= fingerprint_is_again(metadata.fingerprint, q->path);
        if (!reason && metadata.columns > 0)
            q->reference = metadata;
        output->overwrite |= dump && !reason && q->reference.columns > 0;
    }
    for (size_t k = 0; k < list->count; k++)
        list->output[k].overwrite |= again;
    return why;
}

/* Returns true if a film failed before, is unchanged, and is not tried again. */
static bool has_failed(const struct output_plan *o, const struct inputs *in, size_t i)
{
    const struct failed_film film = outputs_failed_film(o, in, i);
    return inputs_is_due(in, i) && !o->plan->outputs.retry &&
           failed_films_have(&o->plan->cache, &film);
}

/*
 * --update: sets the duty of every film whose outputs exist and are up to date to INPUT_LEFT_OUT,
 * that of others which failed before to INPUT_FAILED, and logs the decision for each film (-v).
 * Reads the outputs, and up to 1 MiB of each such film.
 *
 * An output counts if it is a complete file that barcode made after the last change of the film.
 * Its metadata must name this film (film_id.h) and the same options (options_fingerprint.h). A dump
 * has no metadata: it counts if its size matches the metadata of another output of the film.
 * Stdout, pipes and devices never count. With --strict, neither does an image of a film that was
 * decoded only in part.
 *
 * Sets output.overwrite of a dump that counts: a restarted run may replace what an earlier one
 * left. Sets that of all outputs of a film if one of them is to be made again
 * (fingerprint_is_again). Returns false with ERR_INTERRUPTED.
 */
static bool leave_out_finished(struct output_plan *o, struct inputs *in, struct err *e)
{
    for (size_t i = 0; i < in->count && o->plan->outputs.update; i++) {
        struct question q = {
            .plan = o->plan, .path = in->path[i], .parts = in->parts[i], .file = in->file[i]};
        const char *which;
        if (interrupted())
            return interrupt_error(e);
        if (o->film[i].count == 0)
            continue;
        const char *why = why_film(&q, &o->film[i], &which);
        if (!why)
            in->duty[i] = INPUT_LEFT_OUT;
        else if (has_failed(o, in, i))
            in->duty[i] = INPUT_FAILED;
        if (in->duty[i] == INPUT_FAILED)
            log_msg(LOG_VERBOSE, "skipped '%s': it failed before and is unchanged", in->path[i]);
        else if (why)
            log_msg(LOG_VERBOSE, "rendering '%s': '%s' %s", in->path[i], which, why);
        else
            log_msg(LOG_VERBOSE, "skipped '%s': '%s' is up to date", in->path[i], which);
    }
    return true;
}

/* ---- The plan ---- */

bool plan_films(const struct plan *plan, struct inputs *in, struct output_plan *o, struct err *e)
{
    if (!inputs_expand(&plan->inputs, &plan->outputs, in, e) ||
        !shard_split(&plan->inputs, in, e) || !outputs_plan(plan, in, o, e))
        return false;
    outputs_leave_previews(o, in, false);
    if (!leave_out_finished(o, in, e))
        return false;
    outputs_leave_previews(o, in, true);
    return outputs_check(o, in, e);
}
