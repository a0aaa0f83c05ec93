#include "barcode/render/render_report.h"

#include <inttypes.h>

#include "render_job.h"

enum { OUTPUTS_MOST = STRIPS_MOST + WRITERS_MOST + 1 };

static size_t list_outputs(const struct outputs *list, const char *path[OUTPUTS_MOST])
{
    size_t count = 0;
    for (size_t k = 0; k < list->count; k++)
        path[count++] = list->output[k].path;
    if (list->dump.path)
        path[count++] = list->dump.path;
    return count;
}

/* Returns the log entry of a film that failed or was interrupted. */
static struct report_entry failed_entry(const struct render *r, size_t film,
                                        const struct err *failure)
{
    return (struct report_entry){.film = r->inputs->path[film],
                                 .status = failure->code == ERR_INTERRUPTED ? REPORT_INTERRUPTED
                                                                            : REPORT_FAILED,
                                 .reason = failure->text,
                                 .exit = err_exit_status(failure),
                                 .seconds = -1,
                                 .columns = -1};
}

bool render_report_film(const struct render_job *j, bool ok, double seconds, struct err *e)
{
    const struct render *r = j->render;
    const char *path = r->inputs->path[j->input], *output[OUTPUTS_MOST];
    struct err problem = ERR_INIT;
    if (r->tick)
        r->tick(r->tick_user, j->input, 1, j->report.counts.displayed);
    if (ok)
        log_msg(LOG_VERBOSE, "'%s' is done: %" PRIu64 " columns in %.1f s", path, j->report.count,
                seconds);
    struct report_entry entry = ok ? (struct report_entry){.film = path, .status = REPORT_DONE}
                                   : failed_entry(r, j->input, e);
    entry.seconds = seconds;
    entry.columns = j->report.count > 0 ? (int64_t)j->report.count : -1;
    entry.report = &j->report;
    entry.output = output;
    entry.outputs = j->written ? list_outputs(&j->outputs, output) : 0;
    if (report_log_add(r->report_log, &entry, &problem))
        return ok;
    return err_set(e, problem.code, "'%s': %s", path, problem.text);
}

static bool log_left_out(const struct render *r, size_t film, struct err *e)
{
    struct outputs list;
    const char *output[OUTPUTS_MOST];
    if (!r->report_log)
        return true;
    if (!outputs_of(r->options, r->inputs, film, &list, e))
        return false;
    struct report_entry entry = {.film = r->inputs->path[film],
                                 .status = REPORT_LEFT_OUT,
                                 .seconds = -1,
                                 .columns = -1,
                                 .reason = "its outputs are up to date",
                                 .output = output};
    entry.outputs = list_outputs(&list, output);
    bool ok = report_log_add(r->report_log, &entry, e);
    outputs_free(&list);
    return ok;
}

bool render_report_known(const struct render *r, struct err *e)
{
    const struct inputs *in = r->inputs;
    bool ok = true;
    for (size_t i = 0; i < in->count && ok; i++) {
        if (in->duty[i] == INPUT_LEFT_OUT) {
            ok = log_left_out(r, i, e);
        } else if (in->duty[i] == INPUT_TO_DO && in->problem[i].code != ERR_NONE) {
            err_report(&in->problem[i]);
            ok = render_report_missing(r, i, &in->problem[i], e);
        }
    }
    return ok;
}

bool render_report_missing(const struct render *r, size_t film, const struct err *failure,
                           struct err *e)
{
    struct report_entry entry = failed_entry(r, film, failure);
    return report_log_add(r->report_log, &entry, e);
}
