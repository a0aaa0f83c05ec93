#include "film_process.h"

#include <errno.h>
#include <unistd.h>

#include "film_messages.h"
#include "base/interrupt.h"
#include "base/worker.h"
#include "base/log.h"
#include "base/text.h"

int film_process_busy(const struct film_process *p)
{
    int busy = 0;
    for (int i = 0; i < WATCHES; i++)
        busy += p->slot[i].busy;
    return busy;
}

/* Returns true while a film is in progress that must be rendered alone. */
static bool has_film_alone(const struct film_process *p)
{
    for (int i = 0; i < WATCHES; i++)
        if (p->slot[i].busy && p->slot[i].again)
            return true;
    return false;
}

void film_process_leave(struct film_process *p, int slot)
{
    film_files_discard(p, slot);
    p->slot[slot] = (struct slot){.busy = false};
    p->lines = 0;
}

/* ---- The report ---- */

/* Adds an entry, with the paths of the film's outputs if all of them are `written`. */
static bool add_entry(const struct batch *b, size_t film, bool written, struct report_entry *entry,
                      struct err *e)
{
    const struct outputs *list = &b->context->outputs->film[film];
    const char *path[STRIPS_MOST + WRITERS_MOST + 1];
    if (!b->report)
        return true;
    entry->film = b->context->inputs->path[film];
    entry->output = path;
    entry->outputs = written ? list->count : 0;
    for (size_t k = 0; k < entry->outputs; k++)
        path[k] = list->output[k].path;
    return report_log_add(b->report, entry, e);
}

bool film_report_add(const struct batch *b, size_t film, bool written,
                     const struct job_result *result, const struct err *failure, struct err *e)
{
    enum report_status status = REPORT_DONE;
    if (failure->code == ERR_INTERRUPTED)
        status = REPORT_INTERRUPTED;
    else if (failure->code != ERR_NONE)
        status = REPORT_FAILED;
    struct report_entry entry = {.status = status,
                                 .reason = failure->code != ERR_NONE ? failure->text : NULL,
                                 .exit = failure->code != ERR_NONE ? err_exit_status(failure) : 0,
                                 .seconds = result->seconds,
                                 .columns = result->columns,
                                 .warning = result->warning,
                                 .warnings = result->warnings};
    return add_entry(b, film, written, &entry, e);
}

/* Adds a film that --update skips. */
static bool report_skipped(const struct batch *b, size_t film, struct err *e)
{
    struct report_entry entry = {.status = REPORT_LEFT_OUT,
                                 .seconds = -1,
                                 .columns = -1,
                                 .reason = "its outputs are up to date"};
    return add_entry(b, film, true, &entry, e);
}

bool film_report_known(const struct batch *b, struct err *e)
{
    const struct inputs *in = b->context->inputs;
    bool ok = true;
    for (size_t i = 0; i < in->count && ok; i++) {
        if (in->duty[i] == INPUT_LEFT_OUT) {
            ok = report_skipped(b, i, e);
        } else if (in->duty[i] == INPUT_TO_DO && in->problem[i].code != ERR_NONE) {
            log_error(&in->problem[i]);
            ok = film_report_add(b, i, false, &job_no_result, &in->problem[i], e);
        }
    }
    return ok;
}

/* ---- Messages ---- */

static bool answer_film(struct film_process *p, struct batch *b, const struct film_ask *m,
                        size_t size)
{
    struct film_answer answer = {.found = 0};
    size_t film;
    if (size != sizeof *m || m->slot >= WATCHES || m->alone > 1 || p->slot[m->slot].busy ||
        (m->alone == 1 && film_process_busy(p) > 0) || has_film_alone(p))
        return false;
    bool found = film_queue_next(b->queue, m->alone == 1, &film);
    if (found) {
        struct slot *s = &p->slot[m->slot];
        *s = (struct slot){.busy = true,
                           .film = film,
                           .outputs = &b->context->outputs->film[film],
                           .serial = ++b->serials,
                           .again = m->alone == 1};
        answer = (struct film_answer){.found = 1, .film = film, .serial = s->serial};
        p->taken++;
    }
    worker_send(&p->worker, &answer, sizeof answer, -1);
    return true;
}

static bool answer_file(struct film_process *p, struct batch *b, const struct file_ask *m,
                        size_t size)
{
    const size_t head = offsetof(struct file_ask, path);
    if (size <= head || size > sizeof *m || m->path[size - head - 1] != 0 || m->slot >= WATCHES ||
        !p->slot[m->slot].busy)
        return false;
    struct file_answer answer = {.file = m->file};
    int fd = film_files_handle(p, b, (int)m->slot, (enum file_request)m->request, m->path,
                               &answer.file, &answer.error);
    bool sent = worker_send(&p->worker, &answer, sizeof answer, fd);
    if (fd >= 0)
        close(fd);
    if (!sent && fd >= 0) { /* too many descriptors of this user are in messages */
        answer.error = EMFILE;
        (void)worker_send(&p->worker, &answer, sizeof answer, -1);
    }
    return true;
}

/* Returns true if the result is one that a film may have. Ends its texts and makes them plain. */
static bool check_result(struct film_end *m, bool written)
{
    struct job_result *r = &m->result;
    /* only the parent knows of an interruption, and a film without its outputs has failed */
    if ((m->code == ERR_INTERRUPTED && !interrupt_pending()) || (m->code == ERR_NONE && !written))
        return false;
    /* a comparison with a NaN is false */
    if (!err_is_code(m->code) || r->warnings < 0 || r->warnings > REPORT_WARNINGS ||
        r->columns < -1 || !(r->seconds >= -1 && r->seconds < 1e9))
        return false;
    m->text[sizeof m->text - 1] = 0;
    text_make_plain(m->text);
    for (int i = 0; i < r->warnings; i++) {
        r->warning[i][REPORT_WARNING - 1] = 0;
        text_make_plain(r->warning[i]);
    }
    return true;
}

/*
 * Sets the failure that a film reported, or its cause: the parent refused to write an output, or
 * asked the film to end.
 */
static void set_failure(const struct batch *b, const struct slot *s, const struct film_end *m,
                        struct err *e)
{
    if (m->code == ERR_NONE)
        return;
    if (m->code == ERR_FAILED && s->refusal.code != ERR_NONE)
        *e = s->refusal;
    else if (m->code == ERR_FAILED && s->reason[0])
        err_set(e, ERR_FAILED, "'%s': %s", b->context->inputs->path[s->film], s->reason);
    else
        err_set(e, (enum err_code)m->code, "%s", m->text);
}

static bool end_film(struct film_process *p, struct batch *b, const struct film_end *message,
                     size_t size)
{
    struct err e = ERR_INIT, unwritten = ERR_INIT;
    if (size != sizeof *message || message->slot >= WATCHES || !p->slot[message->slot].busy)
        return false;
    struct film_end m = *message;
    struct slot *s = &p->slot[m.slot];
    const bool written = film_files_written(s);
    if (!check_result(&m, written))
        return false;
    struct watch_state last = watch_check(watch_at(p->worker.watch, (int)m.slot));
    film_queue_tick(b->queue, s->film, &last.progress);
    set_failure(b, s, &m, &e);
    if (!written)
        table_remove(b->table, s->film);
    if (!film_report_add(b, s->film, written, &m.result, &e, &unwritten) && e.code == ERR_NONE)
        err_set(&e, unwritten.code, "'%s': %s", b->context->inputs->path[s->film], unwritten.text);
    if (e.code != ERR_NONE)
        log_error(&e);
    film_queue_done(b->queue, s->film, e.code != ERR_NONE ? &e : NULL);
    film_process_leave(p, (int)m.slot);
    return true;
}

static bool put_back(struct film_process *p, struct batch *b, const struct film_end *m, size_t size)
{
    if (size != offsetof(struct film_end, code) || m->slot >= WATCHES || !p->slot[m->slot].busy ||
        p->slot[m->slot].again) /* an end without end */
        return false;
    table_remove(b->table, p->slot[m->slot].film);
    film_queue_again(b->queue, p->slot[m->slot].film);
    film_process_leave(p, (int)m->slot);
    return true;
}

bool film_process_message(struct film_process *p, struct batch *b, const void *message, size_t size,
                          int fd)
{
    const uint32_t kind = *(const uint32_t *)message;
    if (fd >= 0) { /* none is expected */
        close(fd);
        return false;
    }
    switch (kind) {
    case FILM_ASK: return answer_film(p, b, message, size);
    case FILM_ASK_FILE: return answer_file(p, b, message, size);
    case FILM_ENDED: return end_film(p, b, message, size);
    case FILM_AGAIN: return put_back(p, b, message, size);
    default: return false;
    }
}

bool film_process_handle(struct film_process *p, struct batch *b)
{
    enum {
        AT_ONCE = 64,      /* other processes wait meanwhile */
        LINES_MOST = 10000 /* from the end of a film to the next one, but for -vv */
    };
    static _Alignas(max_align_t) char message[LINK_BYTES];
    size_t size;
    int fd;
    for (int i = 0; i < AT_ONCE; i++) {
        enum worker_event event = worker_receive(&p->worker, message, &size, &fd);
        if (event == WORKER_QUIET)
            return true;
        if (event == WORKER_GONE) {
            if (p->worker.leaves && film_process_busy(p) > 0) {
                p->worker.leaves = p->worker.lingers = false;
                worker_kill(&p->worker, WORKER_NONSENSE);
            }
            return false;
        }
        const bool sense = event == WORKER_MESSAGE
                               ? film_process_message(p, b, message, size, fd)
                               : ++p->lines <= LINES_MOST || log_enabled(LOG_DEBUG);
        if (!sense)
            worker_kill(&p->worker, WORKER_NONSENSE);
        if (!p->worker.killed && !log_is_ready())
            break;
    }
    return true;
}
