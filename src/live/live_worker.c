#include "live_worker.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "live_child.h"
#include "live_confine.h"
#include "live_message.h"
#include "base/log.h"

static bool start_streams(const struct live_worker *l, const struct worker *w,
                          struct live_engines *engines, struct live_channel **channel,
                          struct err *e)
{
    bool ok = true;
    for (size_t i = 0; i < l->options->inputs.count && ok; i++) {
        struct live_channel_setup *s = &l->stream[i];
        s->engines = engines;
        s->link = w->link;
        s->watch = i < WATCHES ? watch_at(w->watch, (int)i) : NULL;
        if (s->source)
            ok = (channel[i] = live_channel_start(s, e)) != NULL;
    }
    return ok;
}

/*
 * Waits for LIVE_STOP, the only message from the parent, and receives it: if it were left unread
 * when this process ends, the kernel would drop what the parent has not received yet.
 */
static void wait_for_parent(int link)
{
    struct pollfd p = {.fd = link, .events = POLLIN};
    struct live_message stop;
    int fd;
    while (poll(&p, 1, -1) < 0 && errno == EINTR)
        continue;
    (void)link_receive(link, &stop, sizeof stop, &fd);
}

static void stop_streams(struct live_channel **channel, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (channel[i])
            live_channel_ask(channel[i]);
    for (size_t i = 0; i < count; i++)
        if (channel[i])
            (void)live_channel_stop(channel[i]);
}

void live_worker_run(const struct live_worker *l, struct worker *w)
{
    struct err e = ERR_INIT;
    const size_t count = l->options->inputs.count;
    struct live_engines *engines = NULL;
    struct live_channel **channel = err_calloc(count, sizeof *channel, &e);
    live_child_close_all(w->link); /* the parent's server, its connections and logs */
    if (channel && live_confine_enter(l->options, w->link, &e))
        engines = live_engines_open(l->options, l->engines, l->light, l->means, (int)count, &e);
    if (engines && start_streams(l, w, engines, channel, &e)) {
        wait_for_parent(w->link);
        stop_streams(channel, count);
    }
    int status = e.code == ERR_NONE ? 0 : log_error(&e);
    worker_leaves(w, status, false);
    _exit(status); /* threads may hang in a library */
}
