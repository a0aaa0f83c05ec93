#include "progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "barcode/base/clock.h"
#include "log.h"
#include "text.h"

enum { LINE_MOST = 240 }; /* bytes; fits log_status */

struct progress {
    char *title;
    bool terminal, log;  /* the destination; both false: silent */
    int64_t begin, next; /* clock_ns */
    struct progress_state last;
    struct progress_run run; /* `last.run` points here */
    bool unshown;            /* no line shows `last` yet */
};

/* Returns true for a terminal that can erase a line, unlike a log or a dumb one. */
static bool is_terminal(void)
{
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

/*
 * Returns true unless the process is a background job, which must not draw on the terminal. Checked
 * each time, because the job may return to the foreground.
 */
static bool in_foreground(void)
{
    pid_t group = tcgetpgrp(STDERR_FILENO);
    return group < 0 || group == getpgrp();
}

/* Returns the width of the terminal. Checked each time, because windows are resized. */
static int terminal_width(void)
{
    struct winsize w;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 0)
        return w.ws_col;
    const char *columns = getenv("COLUMNS");
    long width = columns ? strtol(columns, NULL, 10) : 0;
    return width > 0 && width < 10000 ? (int)width : 80;
}

bool progress_is_on_terminal(enum progress_when when)
{
    return when != PROGRESS_NEVER && log_enabled(LOG_INFO) && is_terminal();
}

struct progress *progress_open(enum progress_when when, const char *title, struct err *e)
{
    struct progress *p = calloc(1, sizeof *p);
    char *copy = strdup(title);
    if (!p || !copy) {
        err_memory(e, sizeof *p + strlen(title) + 1);
        free(p);
        free(copy);
        return NULL;
    }
    bool is_shown = when != PROGRESS_NEVER && log_enabled(LOG_INFO);
    p->title = copy;
    p->terminal = progress_is_on_terminal(when);
    p->log = is_shown && !p->terminal && when == PROGRESS_ALWAYS;
    p->begin = p->next = clock_ns();
    if (p->log)
        p->next += 3000000000; /* a short film logs only the last line */
    return p;
}

static void write_log(struct progress *p, int64_t now)
{
    char line[LINE_MOST];
    progress_format(line, LINE_MOST, p->last.title ? p->last.title : p->title, &p->last,
                    (double)(now - p->begin) / 1e9);
    log_msg(LOG_INFO, "%s", line);
    p->unshown = false;
}

void progress_tick(struct progress *p, const struct progress_state *s)
{
    if (!p || (!p->terminal && !p->log))
        return;
    p->last = *s;
    if (s->run) {
        p->run = *s->run;
        p->last.run = &p->run;
    }
    p->unshown = true;
    int64_t now = clock_ns();
    if (now < p->next)
        return;
    /* Relative to now, so that no burst follows a pause. */
    p->next = now + (p->terminal ? 1000000000 / 6 : 3000000000);
    if (p->log) {
        write_log(p, now);
        return;
    }
    double seconds = (double)(now - p->begin) / 1e9;
    char line[LINE_MOST];
    int width = terminal_width(); /* the last column stays empty: some terminals wrap there */
    progress_format(line, width < LINE_MOST ? width : LINE_MOST, s->title ? s->title : p->title, s,
                    seconds);
    log_status(in_foreground() ? line : NULL);
}

void progress_close(struct progress **p)
{
    if (!p || !*p)
        return;
    if ((*p)->terminal)
        log_status(NULL);
    if ((*p)->log && (*p)->unshown)
        write_log(*p, clock_ns());
    free((*p)->title);
    free(*p);
    *p = NULL;
}

/* Appends to text[size], cut if it does not fit. */
static void append(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

double progress_share(const struct progress_run *r)
{
    double share = 0;
    if (r->bytes_total > 0)
        share = ((double)r->bytes + r->bytes_now) / (double)r->bytes_total;
    else if (r->films_total > 0)
        share = ((double)r->films + r->films_now) / (double)r->films_total;
    return share > 1 ? 1 : share;
}

static void append_rate(char *tail, size_t size, uint64_t frames, double seconds)
{
    if (frames > 0 && seconds > 0)
        append(tail, size, "  %.0f frames/s", (double)frames / seconds);
}

/* Appends the time left, unless it is unknown, as in the first second or percent. */
static void append_eta(char *tail, size_t size, double share, double seconds)
{
    char clock[TEXT_CLOCK];
    bool known = share >= 0.01 && share < 1 && seconds >= 1;
    if (!known)
        return;
    double left = seconds * (1 - share) / share;
    text_clock((int64_t)(left < 1e9 ? left * 1e6 : 1e15), TEXT_HOURS_IF_ANY, false, clock);
    append(tail, size, "  ETA %s", clock);
}

/* Formats the line after the title, for several films. */
static void format_run(char *tail, size_t size, const struct progress_state *s)
{
    const struct progress_run *r = s->run;
    double share = progress_share(r);
    append(tail, size, "%4d %%  %llu/%llu films", (int)(share * 100), (unsigned long long)r->films,
           (unsigned long long)r->films_total);
    append_rate(tail, size, s->frames, r->seconds);
    append_eta(tail, size, share, r->seconds);
}

/* Formats the line after the title, for one film. */
static void format_film(char *tail, size_t size, const struct progress_state *s, double seconds)
{
    double share = s->share > 1 ? 1 : s->share;
    if (share >= 0)
        append(tail, size, "%4d %%", (int)(share * 100));
    append_rate(tail, size, s->frames, seconds);
    append(tail, size, "  %llu", (unsigned long long)s->columns);
    if (s->columns_total > 0)
        append(tail, size, "/%llu", (unsigned long long)s->columns_total);
    append(tail, size, " columns");
    append_eta(tail, size, share, seconds);
}

/* Returns how many bytes of the title fit, with room for "...", never half of a character. */
static size_t cut_title(const char *title, size_t room)
{
    size_t length = strlen(title);
    if (length <= room)
        return length;
    length = room - 3;
    while (length > 0 && ((unsigned char)title[length] & 0xc0) == 0x80)
        length--;
    return length;
}

void progress_format(char *text, int size, const char *title, const struct progress_state *s,
                     double seconds)
{
    /* Counts bytes: no UTF-8 character has more columns, so the line always fits. */
    char tail[160] = "";
    if (size < 1)
        return;
    if (s->run)
        format_run(tail, sizeof tail, s);
    else
        format_film(tail, sizeof tail, s, seconds);
    size_t most = (size_t)size - 1, behind = strlen(tail);
    if (most < behind + 8) { /* too short for a name */
        snprintf(text, (size_t)size, "%s", tail + strspn(tail, " "));
        return;
    }
    size_t length = cut_title(title, most - behind);
    snprintf(text, (size_t)size, "%.*s%s%s", (int)length, title, title[length] ? "..." : "", tail);
}
