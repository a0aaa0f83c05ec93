#include "render_report.h"

#include <string.h>

#include "plan/outputs.h"
#include "render.h"
#include "base/log.h"

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

bool render_report_film(const struct render *r, struct report_log *log, size_t film,
                        const struct film_result *result, const struct err *failure, struct err *e)
{
    struct outputs list = {.count = 0};
    const char *output[OUTPUTS_MOST];
    const bool failed = failure->code != ERR_NONE;
    if (!log)
        return true;
    if (result->written && !outputs_of(r->options, r->inputs, film, &list, e))
        return false;
    const struct report_entry entry = {.film = r->inputs->path[film],
                                       .status = !failed ? REPORT_DONE
                                                 : failure->code == ERR_INTERRUPTED
                                                     ? REPORT_INTERRUPTED
                                                     : REPORT_FAILED,
                                       .reason = failed ? failure->text : NULL,
                                       .exit = failed ? err_exit_status(failure) : 0,
                                       .seconds = result->seconds,
                                       .columns = result->columns,
                                       .warning = result->warning,
                                       .warnings = result->warnings,
                                       .output = output,
                                       .outputs = list_outputs(&list, output)};
    bool ok = report_log_add(log, &entry, e);
    outputs_free(&list);
    return ok;
}

static bool log_left_out(const struct render *r, struct report_log *log, size_t film, struct err *e)
{
    struct outputs list;
    const char *output[OUTPUTS_MOST];
    if (!log)
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
    bool ok = report_log_add(log, &entry, e);
    outputs_free(&list);
    return ok;
}

bool render_report_known(const struct render *r, struct report_log *log, struct err *e)
{
    const struct inputs *in = r->inputs;
    bool ok = true;
    for (size_t i = 0; i < in->count && ok; i++) {
        if (in->duty[i] == INPUT_LEFT_OUT) {
            ok = log_left_out(r, log, i, e);
        } else if (in->duty[i] == INPUT_TO_DO && in->problem[i].code != ERR_NONE) {
            log_error(&in->problem[i]);
            ok = render_report_film(r, log, i, &film_no_result, &in->problem[i], e);
        }
    }
    return ok;
}
