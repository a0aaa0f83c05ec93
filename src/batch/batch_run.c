#include "batch_run.h"

#include <unistd.h>

#include "base/limits.h"
#include "base/log.h"
#include "films.h"
#include "cache/frame_cache.h"
#include "plan/outputs.h"
#include "plan/shard.h"
#include "plan/update.h"

static pid_t parent;

int batch_render(struct options *o, const struct inputs *in, const struct batch_sink *sink)
{
    struct engines engines;
    int threads = o->process.threads > 0 ? o->process.threads : machine_cores();
    parent = getpid();
    limits_set(o->process.memory, o->process.max_pixels);
    engines_init(&engines, o->engine.choice, &o->engine.devices, threads);
    struct render r = {.options = o, .inputs = in, .engines = &engines, .threads = threads};
    frame_cache_check_folder(&o->cache);
    int status = render_films(&r, sink);
    engines_close(&engines);
    return status;
}

int batch_run(struct options *o, struct inputs *in)
{
    struct err e = ERR_INIT;
    bool ready = inputs_expand(o, in, &e) && shard_split(o, in, &e) &&
                 update_leave_out(o, in, &e) && outputs_check(o, in, &e);
    parent = getpid();
    return ready ? batch_render(o, in, NULL) : log_error(&e);
}

bool batch_run_is_worker(void) { return parent != 0 && getpid() != parent; }
