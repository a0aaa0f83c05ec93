/*
 * barcode - turns a film into one picture of its colours.
 *
 *   options -> films -> for each: source -> staged frames -> engine -> columns -> pictures
 */
#include <sched.h>
#include <unistd.h>

#include "barcode/cache_admin.h"
#include "barcode/cli.h"
#include "barcode/inputs.h"
#include "barcode/interrupt.h"
#include "barcode/log.h"
#include "barcode/outputs.h"
#include "barcode/render.h"

static int complain(const struct err *e)
{
    log_msg(LOG_ERROR, "%s", e->text);
    if (e->file)
        log_msg(LOG_DEBUG, "said at %s:%d", e->file, e->line);
    return err_exit_status(e);
}

/* The cores that this process may use. */
static int core_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

/* Trouble that is known before the first film is opened is told then, not hours later. */
static int tell_problems(const struct inputs *in)
{
    int status = 0;
    for (size_t i = 0; i < in->count; i++) {
        int code = in->problem[i].code == ERR_NONE ? 0 : complain(&in->problem[i]);
        status = status ? status : code;
    }
    return status;
}

/* Films one after another over one engine; one that fails does not stop the others. The first failure is the status. */
static int render_all(const struct render *r)
{
    int status = tell_problems(r->inputs);
    for (size_t i = 0; i < r->inputs->count; i++) {
        struct err e = ERR_INIT;
        if (r->inputs->problem[i].code != ERR_NONE)
            continue;
        if (interrupted()) {     /* while the film before was being written, or while this one's turn came */
            interrupt_error(&e);
            err_prefix(&e, "'%s'", r->inputs->path[i]);
        } else if (render_film(r, i, &e)) {
            continue;
        }
        int code = complain(&e);
        if (status == 0)
            status = code;
        if (e.code == ERR_INTERRUPTED)
            return code;
    }
    return status;
}

int main(int argc, char **argv)
{
    struct options options;
    struct inputs inputs = {0};
    struct err e = ERR_INIT;
    switch (cli_parse(argc, argv, &options, &e)) {
    case CLI_DONE:
        return 0;
    case CLI_BAD:
        return complain(&e);
    case CLI_RUN:
        break;
    }
    interrupt_install();
    if (cache_options_action(&options.cache))
        return cache_admin(&options.cache, stdout, &e) ? 0 : complain(&e);

    int threads = options.threads > 0 ? options.threads : core_count();
    struct engines engines = {.choice = options.engine, .config = {.threads = threads, .device = options.device}};
    struct render r = {.options = &options, .inputs = &inputs, .engines = &engines, .threads = threads};
    int status;
    if (inputs_expand(&options, &inputs, &e) && outputs_check(&options, &inputs, &e))
        status = render_all(&r);
    else
        status = complain(&e);
    engines_close(&engines);
    inputs_free(&inputs);
    return status;
}
