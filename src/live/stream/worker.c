/* worker.c - the worker process of --live, and the rights that it keeps. */
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/path.h"
#include "base/sandbox.h"
#include "base/log.h"

/* ------------------------------------------------------------------ rights */

static bool uses_gpu(const struct engines *g)
{
    return engines_have_gpu(g) && sandbox_gpu_exists();
}

bool live_worker_prepare(const struct engines *g, enum sandbox_choice sandbox, struct err *e)
{
    if (!sandbox_prepare(sandbox_choice_of(sandbox), e))
        return false;
    if (uses_gpu(g))
        sandbox_make_devices();
    return true;
}

/* Allows a device, or a folder; for a picture its folder, because it will be replaced. */
static bool allow_path(struct sandbox *s, const char *path, struct err *e)
{
    char folder[PATH_MAX];
    struct stat st;
    bool found = stat(path, &st) == 0, device = found && S_ISCHR(st.st_mode);
    size_t length;
    const char *last = path_last(path, &length);
    snprintf(folder, sizeof folder, "%.*s", (int)(last - path), path);
    if (found && S_ISREG(st.st_mode))
        path = folder[0] ? folder : ".";
    return sandbox_allow(s, path, SANDBOX_READ | (device ? SANDBOX_WRITE | SANDBOX_DEVICE : 0U), e);
}

static bool allow_all(struct sandbox *s, const struct live_worker *l, struct err *e)
{
    if (!sandbox_allow_libraries(s, e))
        return false;
    if (uses_gpu(l->engines) && !sandbox_allow_nvidia(s, e))
        return false;
    for (size_t i = 0; i < l->count; i++) {
        bool ok = true;
        if (strstr(l->input[i], "://")) {
            sandbox_allow_network(s);
            ok = sandbox_allow_names(s, e);
        } else if (strcmp(l->input[i], "-") != 0) {
            ok = allow_path(s, l->input[i], e);
        }
        if (!ok)
            return false;
    }
    return true;
}

/*
 * Limits the memory of this process and confines it, unless --sandbox=off. Of the descriptors it
 * keeps `link`, and stdin if that is an input. Returns false if --sandbox=require and the
 * confinement is incomplete.
 */
static bool confine(const struct live_worker *l, int link, struct err *e)
{
    const enum sandbox_choice choice = sandbox_choice_of(l->sandbox);
    unsigned streams = 0;
    process_limits_set(limits_memory());
    if (choice == SANDBOX_OFF)
        return true;
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->input[i], "-") == 0)
            streams = 1U << STDIN_FILENO;
    worker_leave_streams(streams);
    struct sandbox *s = sandbox_new(e);
    if (s && sandbox_keep(s, link, e))
        (void)allow_all(s, l, e);
    bool ok = sandbox_enter_by(choice, s, e);
    sandbox_free(&s);
    return ok;
}

void live_worker_close_others(int keep)
{
    enum { DESCRIPTORS = 4096 }; /* more than the server, the logs and the log of messages have */
    for (int fd = STDERR_FILENO + 1; fd < DESCRIPTORS; fd++) {
        int flags = fd == keep ? -1 : fcntl(fd, F_GETFD);
        if (flags >= 0 && (flags & FD_CLOEXEC))
            close(fd);
    }
}

/* ------------------------------------------------------------------ streams */

static bool start_streams(const struct live_worker *l, const struct worker *w,
                          struct live_engines *engines, struct live_channel **channel,
                          struct err *e)
{
    for (size_t i = 0; i < l->count; i++) {
        struct live_channel_setup *s = &l->stream[i];
        s->engines = engines;
        s->link = w->link;
        s->watch = i < WATCHES ? watch_at(w->watch, (int)i) : NULL;
        if (!s->source)
            continue;
        channel[i] = live_channel_start(s, e);
        if (!channel[i])
            return false;
    }
    return true;
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
            live_channel_request_stop(channel[i]);
    for (size_t i = 0; i < count; i++)
        if (channel[i])
            (void)live_channel_join(channel[i]);
}

void live_worker_run(const struct live_worker *l, struct worker *w)
{
    struct err e = ERR_INIT;
    struct live_engines *engines = NULL;
    struct live_channel **channel = err_calloc(l->count, sizeof *channel, &e);
    live_worker_close_others(w->link); /* the parent's server, its connections and logs */
    if (channel && confine(l, w->link, &e))
        engines = live_engines_open(l->report, l->engines, l->light, (int)l->count, &e);
    if (engines && start_streams(l, w, engines, channel, &e)) {
        wait_for_parent(w->link);
        stop_streams(channel, l->count);
    }
    int status = e.code == ERR_NONE ? 0 : log_error(&e);
    worker_leaves(w, status, false);
    _exit(status); /* threads may hang in a library */
}
