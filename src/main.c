/*
 * barcode - turns a film into one picture of its colours.
 *
 *   options -> films -> for each: source -> staged frames -> engine -> columns -> pictures
 */
#include <sched.h>
#include <unistd.h>

#include "barcode/cache_admin.h"
#include "barcode/cli.h"
#include "barcode/film_queue.h"
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

/* Reports the problems that are known before the first film is opened: now, not hours later. */
static void tell_problems(const struct inputs *in)
{
    for (size_t i = 0; i < in->count; i++)
        if (in->problem[i].code != ERR_NONE)
            complain(&in->problem[i]);
}

/* After an interruption the next film fails without being opened. */
static bool render_unless_interrupted(const struct render *r, size_t film, struct err *e)
{
    if (!interrupted())
        return render_film(r, film, e);
    interrupt_error(e);
    return err_prefix(e, "'%s'", r->inputs->path[film]);
}

/* Films one after another; one that fails does not stop the others. */
static int render_all(const struct render *r)
{
    struct err e = ERR_INIT;
    struct film_queue *queue = film_queue_open(r->inputs, &e);
    if (!queue)
        return complain(&e);
    tell_problems(r->inputs);
    for (size_t film; film_queue_next(queue, &film); err_clear(&e)) {
        bool fine = render_unless_interrupted(r, film, &e);
        if (!fine)
            complain(&e);
        film_queue_done(queue, film, fine ? NULL : &e);
    }
    int status = film_queue_status(queue);
    film_queue_free(&queue);
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
    struct engines engines;
    engines_init(&engines, options.engine, options.device, threads);
    struct render r = {.options = &options, .inputs = &inputs, .engines = &engines, .threads = threads};
    bool ready = inputs_expand(&options, &inputs, &e) && outputs_check(&options, &inputs, &e);
    int status = ready ? render_all(&r) : complain(&e);
    engines_close(&engines);
    inputs_free(&inputs);
    return status;
}
