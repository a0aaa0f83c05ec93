#include "log.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

enum { STATUS = 256 };

static pthread_mutex_t terminal = PTHREAD_MUTEX_INITIALIZER; /* guards `status` and the order */
static char status[STATUS];                                  /* the visible progress line, or "" */
static enum log_level highest = LOG_INFO;
static log_sink *sink; /* NULL: stderr */
static bool patience = true;
static bool (*is_over)(void); /* NULL: lines wait for ever */
static unsigned left_out;     /* lines, since the last one that was written */

void log_set_level(enum log_level level) { highest = level; }

bool log_enabled(enum log_level level) { return level <= highest; }

void log_set_patience(bool patient) { patience = patient; }

void log_set_end(bool (*check)(void)) { is_over = check; }

void log_set_sink(log_sink *to) { sink = to; }

/* Returns true if stderr becomes writable within `ms`, or is closed (POLLNVAL). */
static bool is_writable(int ms)
{
    struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};
    return poll(&p, 1, ms) > 0;
}

bool log_is_ready(void) { return is_writable(0); }

/*
 * Writes everything in one call, so that no other program's output gets between. Waits while the
 * terminal is paused, with patience. After an interruption, or if stderr is closed or full, the
 * message is lost.
 */
static void put(const char *lift, const char *text, const char *below)
{
    enum { WAIT_MS = 100 };
    char all[LOG_LINE + 3 * STATUS], note[STATUS] = "";
    bool ready = is_writable(patience ? WAIT_MS : 0);
    while (!ready && patience && !(is_over && is_over()))
        ready = is_writable(WAIT_MS);
    if (!ready) {
        left_out += !patience;
        return;
    }
    if (left_out > 0)
        snprintf(note, sizeof note, "barcode: %u lines were left out here\n", left_out);
    left_out = 0;
    snprintf(all, sizeof all, "%s%s%s%s", lift, note, text, below);
    ssize_t n = write(STDERR_FILENO, all, strlen(all));
    (void)n;
}

void log_msg(enum log_level level, const char *format, ...)
{
    if (!log_enabled(level))
        return;
    static const char *const name[] = {"", "warning: ", "", "", "debug: "};
    int saved = errno; /* so that a message between a call and strerror() changes nothing */
    char line[LOG_LINE];
    int used = sink ? 0 : snprintf(line, sizeof line, "barcode: %s", name[level]);
    va_list args;
    va_start(args, format);
    vsnprintf(line + used, sizeof line - (size_t)used - 1, format, args);
    va_end(args);
    text_make_plain(line);
    if (sink) {
        sink(level, line);
        errno = saved;
        return;
    }
    memcpy(line + strlen(line), "\n", 2); /* vsnprintf left room for it */
    pthread_mutex_lock(&terminal);
    put(status[0] ? "\r\033[K" : "", line, status);
    pthread_mutex_unlock(&terminal);
    errno = saved;
}

int log_error(const struct err *e)
{
    if (e->code == ERR_PIPE)
        return err_exit_status(e);
    log_msg(LOG_ERROR, "%s", e->text);
    if (e->file)
        log_msg(LOG_DEBUG, "raised at %s:%d", e->file, e->line);
    return err_exit_status(e);
}

void log_status(const char *line)
{
    if (sink)
        return;
    pthread_mutex_lock(&terminal);
    const char *lift = status[0] ? "\r\033[K" : "";
    snprintf(status, sizeof status, "%s", line ? line : "");
    text_make_plain(status);
    if (*lift || status[0])
        put(lift, status, "");
    pthread_mutex_unlock(&terminal);
}
