#include "render_job.h"

/* True if the rule needs the film's real length before it is decoded. */
static bool needs_length(const struct selection *s, const struct film *f)
{
    enum { FINE_US = 10000 };        /* far below a frame's time: a wrong length hides millions of columns */
    if (!f->duration_guessed && f->duration_us > 0)
        return false;
    /* Columns are spread over the length: a wrong one would leave the film's end out, or give fewer columns. */
    return s->kind == SELECT_COLUMNS || (s->kind == SELECT_INTERVAL && s->interval_us < FINE_US);
}

bool render_probe(struct render_job *j, struct err *e)
{
    const struct film *f = &j->source->film;
    struct probe_request request = {.want = 0};
    struct probe_facts facts;
    if (needs_length(&j->render->options->selection, f)) {
        log_msg(LOG_VERBOSE, "'%s': how long it is can only be found by reading it", f->path);
        request.want |= PROBE_LENGTH;
    }
    if (request.want && !source_can(j->source, SOURCE_RESTARTABLE))
        return err_set(e, ERR_INPUT, "'%s' would have to be read twice, first for its length, and is no file", f->path);
    return source_probe(j->source, &request, &facts, e);
}

bool render_probe_length(struct render_job *j, struct err *e)
{
    struct probe_request request = {.want = PROBE_LENGTH};
    struct probe_facts facts;
    return source_probe(j->source, &request, &facts, e);
}
