#include "update.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "barcode/base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "options_fingerprint.h"

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
    char fingerprint[REPORT_FINGERPRINT];
    *metadata = (struct writer_metadata){.columns = 0};
    if (outputs_is_stdout(output->path) || stat(output->path, &s) != 0)
        return "does not exist";
    if (!writer_has_metadata(output->writer) || !S_ISREG(s.st_mode))
        return "has no metadata";
    if (!writer_read_metadata(output->writer, output->path, metadata))
        return "is incomplete";
    options_fingerprint(q->plan, output->writer, output->strips, fingerprint);
    if (fingerprint_is_again(metadata->fingerprint, NULL))
        return "was made when the film could not be read, or changed";
    if (strcmp(fingerprint, metadata->fingerprint) != 0)
        return "was made with other options";
    if (q->plan->outputs.strict && metadata->partial)
        return "shows only a part (--strict)";
    if (written_since(q, &s))
        return "is older than the film";
    if (output->writer->beside)
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

static struct question ask(const struct plan *plan, const struct inputs *in, size_t i)
{
    return (struct question){
        .plan = plan, .path = in->path[i], .parts = in->parts[i], .file = in->file[i]};
}

/*
 * Returns why the film must be rendered, and sets `*which` to the output concerned. Returns NULL if
 * all outputs are up to date.
 */
static const char *why_film(struct question *q, const struct outputs *list, const char **which)
{
    for (size_t k = 0; k < list->count; k++) {
        struct writer_metadata metadata;
        const char *why = why_output(q, &list->output[k], &metadata);
        *which = list->output[k].path;
        if (why)
            return why;
        if (metadata.columns > 0)
            q->reference = metadata;
    }
    if (!list->dump.path)
        return NULL;
    *which = list->dump.path;
    return why_dump(q, list->dump.path);
}

bool update_knows_dump(const struct plan *plan, const struct inputs *in, size_t i,
                       const struct outputs *list)
{
    struct stat s;
    struct question q = ask(plan, in, i);
    if (!plan->outputs.update || !list->dump.path || outputs_is_stdout(list->dump.path) ||
        stat(list->dump.path, &s) != 0)
        return false;
    for (size_t k = 0; k < list->count; k++) {
        if (!why_output(&q, &list->output[k], &q.reference) && q.reference.columns > 0)
            return !why_dump(&q, list->dump.path);
    }
    return false;
}

bool update_knows_again(const struct plan *plan, const struct inputs *in, size_t i,
                        const struct outputs *list)
{
    struct writer_metadata metadata;
    if (!plan->outputs.update)
        return false;
    for (size_t k = 0; k < list->count; k++) {
        const struct output *output = &list->output[k];
        if (!outputs_is_stdout(output->path) &&
            writer_read_metadata(output->writer, output->path, &metadata) &&
            fingerprint_is_again(metadata.fingerprint, in->path[i]))
            return true;
    }
    return false;
}

bool update_leave_out(const struct plan *plan, struct inputs *in, struct err *e)
{
    for (size_t i = 0; i < in->count && plan->outputs.update; i++) {
        struct outputs list;
        struct err problem = ERR_INIT; /* outputs_check reports it */
        struct question q = ask(plan, in, i);
        const char *which = NULL;
        if (interrupted())
            return interrupt_error(e);
        if (!inputs_is_due(in, i) || !outputs_of(plan, in, i, &list, &problem))
            continue;
        const char *why = why_film(&q, &list, &which);
        if (!why)
            in->duty[i] = INPUT_LEFT_OUT;
        if (why)
            log_msg(LOG_VERBOSE, "rendering '%s': '%s' %s", in->path[i], which, why);
        else
            log_msg(LOG_VERBOSE, "skipped '%s': '%s' is up to date", in->path[i],
                    list.output[0].path);
        outputs_free(&list);
    }
    return true;
}
