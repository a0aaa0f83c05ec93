#include "barcode/base/log.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "barcode/base/shared.h"
#include "barcode/base/text.h"
#include "barcode/base/watch.h"

/* The terminal, shared by the processes that write to it. */
struct terminal {
    pthread_mutex_t lock;
    char status[256]; /* the visible progress line, or "" */
};

static struct terminal own = {.lock = PTHREAD_MUTEX_INITIALIZER}, *terminal = &own;
static enum log_level highest = LOG_INFO;

void log_share(void)
{
    struct err none = ERR_INIT;
    struct terminal *shared = terminal == &own ? shared_alloc(sizeof *shared, &none) : NULL;
    if (!shared)
        return;
    shared_lock_init(&shared->lock);
    terminal = shared;
}

void log_set_level(enum log_level level) { highest = level; }

bool log_enabled(enum log_level level) { return level <= highest; }

/* Writes everything in one call, so that no other program's output gets between. */
static void put(const char *lift, const char *text, const char *below)
{
    char all[1024 + 2 * 256];
    int length = snprintf(all, sizeof all, "%s%s%s", lift, text, below);
    struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};
    while (poll(&p, 1, 100) == 0)
        watch_moved(); /* somebody has paused the terminal */
    /* stderr may be closed or full; then the message is lost. */
    ssize_t n = write(STDERR_FILENO, all, (size_t)length);
    (void)n;
}

void log_msg(enum log_level level, const char *format, ...)
{
    if (!log_enabled(level))
        return;
    static const char *const name[] = {"", "warning: ", "", "", "debug: "};
    int saved = errno; /* so that a message between a call and strerror() changes nothing */
    char line[1024];
    int used = snprintf(line, sizeof line, "barcode: %s", name[level]);
    va_list args;
    va_start(args, format);
    vsnprintf(line + used, sizeof line - (size_t)used - 1, format, args);
    va_end(args);
    text_make_plain(line);
    memcpy(line + strlen(line), "\n", 2); /* vsnprintf left room for it */

    shared_lock(&terminal->lock);
    put(terminal->status[0] ? "\r\033[K" : "", line, terminal->status);
    pthread_mutex_unlock(&terminal->lock);
    errno = saved;
}

void log_status(const char *line)
{
    shared_lock(&terminal->lock);
    char *status = terminal->status;
    const char *lift = status[0] ? "\r\033[K" : "";
    snprintf(status, sizeof terminal->status, "%s", line ? line : "");
    text_make_plain(status);
    if (*lift || status[0])
        put(lift, status, "");
    pthread_mutex_unlock(&terminal->lock);
}
