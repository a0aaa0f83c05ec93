#include "film_process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "film_messages.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/path.h"
#include "base/text.h"
#include "base/worker.h"
#include "media/container/playlists.h"
#include "output/sinks.h"

/* ---- What a film may read ---- */

/* Opens `path` if it is one of the film's files, or lies in the folder of its playlist. */
static int open_of_film(const struct inputs *in, struct slot *s, const char *path)
{
    const struct film_parts *parts = in->parts[s->film];
    const size_t count = film_files_count(parts);
    for (size_t i = 0; i < count; i++) {
        const size_t at = (s->next_file + i) % count;
        if (strcmp(path, film_file(in->path[s->film], parts, at)) != 0)
            continue;
        s->next_file = at + 1; /* images come one after another */
        return file_open_read(path);
    }
    int fd = -1;
    errno = EACCES;
    for (size_t i = 0; i < count && fd < 0 && !(parts && parts->rate_num > 0); i++) {
        const char *file = film_file(in->path[s->film], parts, i);
        char *found = playlists_may_be(file) ? playlists_file(file, path) : NULL;
        fd = found ? file_open_read(found) : -1;
        free(found);
    }
    return fd;
}

/* Returns true if `path` is `output`, or one of the sheets that belong to it. */
static bool is_output(const struct output *output, const char *path)
{
    const struct writer *w = output->kind->writer;
    if (outputs_is_stdout(output->path)) /* "-" would be a file of this name */
        return strcmp(path, "/dev/stdout") == 0;
    if (strcmp(output->path, path) == 0)
        return true;
    return w && w->is_part && w->is_part(output->path, path);
}

/* Returns the output of a slot that `path` belongs to, or NULL. */
static const struct output *find_output(const struct slot *s, const char *path)
{
    for (size_t k = 0; k < s->outputs->count; k++)
        if (is_output(&s->outputs->output[k], path))
            return &s->outputs->output[k];
    return NULL;
}

/* Returns true if all outputs of a slot have been written. */
static bool all_written(const struct slot *s)
{
    bool written = true;
    for (size_t k = 0; k < s->outputs->count; k++)
        written &= s->state[k] == OUTPUT_WRITTEN;
    return written;
}

/*
 * Returns true if an output may be written, by outputs_allowed. That may read thousands of files,
 * so a worker has it done once. The reason of a refusal becomes that of the film's failure. What an
 * earlier attempt has written is the film's own.
 */
static bool is_allowed(const struct batch *b, struct slot *s, const struct output *output)
{
    const size_t k = (size_t)(output - s->outputs->output);
    if (s->state[k] != OUTPUT_UNCHECKED)
        return s->state[k] != OUTPUT_REFUSED;
    bool allowed = s->again || outputs_allowed(b->context->inputs, s->film, output, &s->refusal);
    s->state[k] = allowed ? OUTPUT_ALLOWED : OUTPUT_REFUSED;
    return allowed;
}

/*
 * Opens a file that a film may read: its own, an older output that it replaces, or the gallery,
 * which decides how its page is called. The path of an output in memory names no file.
 */
static int open_to_read(struct slot *s, const struct batch *b, const char *path)
{
    const char *gallery = b->context->outputs->gallery;
    const struct output *output = find_output(s, path);
    bool older = (output && !output->kind->in_memory) || (gallery && strcmp(path, gallery) == 0);
    return older && file_is_regular(path) ? file_open_read(path)
                                          : open_of_film(b->context->inputs, s, path);
}

/* ---- Outputs ---- */

/* Returns a free grant, and its number; NULL with errno. */
static struct grant *new_grant(struct film_process *p, int slot, int32_t *number)
{
    int i = 0;
    while (i < GRANTS_MOST && p->grant[i].kind != GRANT_NONE)
        i++;
    if (i == GRANTS_MOST) {
        errno = EMFILE;
        return NULL;
    }
    p->grant[i] = (struct grant){.part = -1, .slot = slot};
    *number = i;
    return &p->grant[i];
}

/* Returns the grant of a slot by the number that a worker sent; NULL with EBADF. */
static struct grant *find_grant(struct film_process *p, int slot, int32_t number)
{
    if (number >= 0 && number < GRANTS_MOST && p->grant[number].kind != GRANT_NONE &&
        p->grant[number].slot == slot)
        return &p->grant[number];
    errno = EBADF;
    return NULL;
}

static void drop_grant(struct grant *g)
{
    atomic_target_discard(&g->target);
    if (g->part >= 0)
        close(g->part);
    *g = (struct grant){.kind = GRANT_NONE, .part = -1};
}

/*
 * Returns true if an output may be written to `path`; a sheet beside it only in place of another
 * sheet.
 */
static bool may_write(const struct batch *b, struct slot *s, const struct output *output,
                      const char *path)
{
    char film[FILM_ID_TEXT];
    bool beside = strcmp(output->path, path) != 0 && !outputs_is_stdout(output->path);
    bool ok = is_allowed(b, s, output);
    if (beside && ok)
        ok = !file_is_dangling(path) &&
             (access(path, F_OK) != 0 || writer_made(output->kind->writer, path, film));
    errno = EACCES;
    return ok;
}

/* Opens the target of an output, or with `folder` that of its folder. Returns NULL with errno. */
static struct atomic_target *open_target(const char *path, bool folder)
{
    if (!folder)
        return atomic_target_open(path);
    size_t length;
    char *name = strndup(path, (size_t)(path_last(path, &length) - path - 1));
    struct atomic_target *t = name ? atomic_target_open_folder(name, jellyfin_made) : NULL;
    free(name);
    return t;
}

/*
 * Begins the output at `path`, or with `folder` the folder of trickplay sheets of which it is the
 * first. Returns false with errno. Otherwise `*file` is the number of its grant.
 */
static bool begin_output(struct film_process *p, struct batch *b, int slot, const char *path,
                         bool folder, int32_t *file)
{
    struct slot *s = &p->slot[slot];
    const struct output *output = find_output(s, path);
    struct grant *g = new_grant(p, slot, file);
    if (!g)
        return false;
    errno = EACCES;
    if (!output ||
        (folder && (output->kind->writer != &writer_jellyfin || strcmp(output->path, path) != 0)))
        return false;
    g->output = (size_t)(output - s->outputs->output);
    if (output->kind->in_memory) {
        g->part = folder ? -1 : file_open_scratch(dump_scratch_folder());
        g->kind = g->part >= 0 ? GRANT_MEMORY : GRANT_NONE;
    } else if (b->table && output->kind->writer && output->kind->writer->table &&
               !output->kind->chosen) {
        g->part = table_open_part(b->table);
        g->kind = g->part >= 0 ? GRANT_TABLE : GRANT_NONE;
    } else if (may_write(b, s, output, path) && outputs_make_folders(output, &s->refusal)) {
        g->target = open_target(path, folder);
        g->kind = g->target ? GRANT_OUTPUT : GRANT_NONE;
    }
    return g->kind != GRANT_NONE;
}

/* Begins the output at `path`. Returns its descriptor, or -1 with errno. */
static int open_to_write(struct film_process *p, struct batch *b, int slot, const char *path,
                         int32_t *file)
{
    if (!begin_output(p, b, slot, path, false, file))
        return -1;
    const struct grant *g = &p->grant[*file];
    return g->part >= 0 ? g->part : atomic_target_descriptor(g->target);
}

static int add_to_folder(struct film_process *p, int slot, const char *name, int32_t file)
{
    const struct grant *g = find_grant(p, slot, file);
    return g && g->target ? atomic_target_add(g->target, name) : -1;
}

/* Hands what a worker has written over to the sink. Returns false with errno. */
static bool take_in_memory(const struct batch *b, const struct slot *s, const struct grant *g)
{
    const off_t most = 1 << 28;
    struct stat st;
    if (fstat(g->part, &st) != 0)
        return false;
    if (st.st_size >= most) {
        errno = EFBIG;
        return false;
    }
    const size_t size = (size_t)st.st_size;
    uint8_t *bytes = malloc(size + 1);
    if (!bytes)
        return false;
    if (!file_read_at(g->part, bytes, size, 0)) {
        free(bytes);
        return false;
    }
    const struct output *output = &s->outputs->output[g->output];
    return b->sink->take(b->sink->user, s->film, output->kind->writer, bytes, size);
}

/* Completes an output. Returns false with errno. */
static bool complete(struct batch *b, const struct slot *s, struct grant *g)
{
    switch (g->kind) {
    case GRANT_TABLE: return table_add(b->table, s->film, g->part);
    case GRANT_MEMORY: return take_in_memory(b, s, g);
    default: return atomic_target_publish(&g->target);
    }
}

static bool publish(struct film_process *p, struct batch *b, int slot, int32_t file)
{
    struct grant *g = find_grant(p, slot, file);
    if (!g)
        return false;
    bool ok = complete(b, &p->slot[slot], g);
    int error = errno;
    if (ok)
        p->slot[slot].state[g->output] = OUTPUT_WRITTEN;
    drop_grant(g);
    errno = error;
    return ok;
}

static bool discard(struct film_process *p, int slot, int32_t file)
{
    struct grant *g = find_grant(p, slot, file);
    if (g)
        drop_grant(g);
    return g;
}

/* ---- Requests ---- */

/* Returns a duplicate that may be closed; the target keeps its own. */
static int copy_of(int fd) { return fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1; }

/*
 * Handles a request for a file of the film of a slot, which is busy. A worker names any path; only
 * those are opened that the parent itself has listed, or found in the folder of a playlist. Returns
 * a descriptor, which the caller closes, or -1 if the request has none or failed; `*error` is an
 * errno value or 0. `*file` is the number of an output that is being written.
 */
static int answer_request(struct film_process *p, struct batch *b, int slot,
                          enum file_request request, const char *path, int32_t *file,
                          int32_t *error)
{
    int fd = -1;
    bool ok = false;
    errno = EINVAL;
    switch (request) {
    case FILE_READ: fd = open_to_read(&p->slot[slot], b, path); break;
    case FILE_SCRATCH: fd = file_open_scratch(dump_scratch_folder()); break;
    case FILE_WRITE: fd = copy_of(open_to_write(p, b, slot, path, file)); break;
    case FILE_ADD: fd = add_to_folder(p, slot, path, *file); break;
    case FILE_FOLDER: ok = begin_output(p, b, slot, path, true, file); break;
    case FILE_PUBLISH: ok = publish(p, b, slot, *file); break;
    case FILE_DISCARD: ok = discard(p, slot, *file); break;
    }
    *error = 0;
    if (!ok && fd < 0)
        *error = errno ? errno : EIO;
    return fd;
}

/* Removes what is unfinished of the outputs of a slot. */
static void discard_outputs(struct film_process *p, int slot)
{
    for (int i = 0; i < GRANTS_MOST; i++)
        if (p->grant[i].kind != GRANT_NONE && p->grant[i].slot == slot)
            drop_grant(&p->grant[i]);
}

/* ---- The slots ---- */

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
    discard_outputs(p, slot);
    p->slot[slot] = (struct slot){.busy = false};
    p->lines = 0;
}

/* ---- The report ---- */

/* Adds an entry, with the paths of the film's outputs if all of them are `written`. */
static bool add_entry(const struct batch *b, size_t film, bool written, struct report_entry entry,
                      struct err *e)
{
    const struct outputs *list = &b->context->outputs->film[film];
    const char *path[STRIPS_MOST + WRITERS_MOST + 1];
    if (!b->report)
        return true;
    entry.film = b->context->inputs->path[film];
    entry.output = path;
    entry.outputs = written ? list->count : 0;
    for (size_t k = 0; k < entry.outputs; k++)
        path[k] = list->output[k].path;
    return report_log_add(b->report, &entry, e);
}

bool film_report_add(const struct batch *b, size_t film, bool written,
                     const struct job_result *result, const struct err *failure, struct err *e)
{
    enum report_status status = REPORT_DONE;
    if (failure->code == ERR_INTERRUPTED)
        status = REPORT_INTERRUPTED;
    else if (failure->code != ERR_NONE)
        status = REPORT_FAILED;
    const struct report_entry entry = {.status = status,
                                       .reason = failure->code != ERR_NONE ? failure->text : NULL,
                                       .exit =
                                           failure->code != ERR_NONE ? err_exit_status(failure) : 0,
                                       .seconds = result->seconds,
                                       .columns = result->columns,
                                       .warning = result->warning,
                                       .warnings = result->warnings};
    return add_entry(b, film, written, entry, e);
}

/* Adds a film that --update skips. */
static bool report_skipped(const struct batch *b, size_t film, bool failed, struct err *e)
{
    const struct report_entry entry = {.status = REPORT_LEFT_OUT,
                                       .seconds = -1,
                                       .columns = -1,
                                       .reason = failed ? "it failed before and is unchanged"
                                                        : "its outputs are up to date"};
    return add_entry(b, film, !failed, entry, e);
}

bool film_report_known(const struct batch *b, struct err *e)
{
    const struct inputs *in = b->context->inputs;
    bool ok = true;
    for (size_t i = 0; i < in->count && ok; i++) {
        if (in->duty[i] == INPUT_LEFT_OUT || in->duty[i] == INPUT_FAILED) {
            ok = report_skipped(b, i, in->duty[i] == INPUT_FAILED, e);
        } else if (in->duty[i] == INPUT_TO_DO && in->problem[i].code != ERR_NONE) {
            if (strcmp(in->problem[i].text, b->context->outputs->unwritten.text) != 0)
                log_error(&in->problem[i]); /* else it is logged */
            ok = film_report_add(b, i, false, &job_no_result, &in->problem[i], e);
        }
    }
    return ok;
}

/* ---- Messages ---- */

static bool answer_film(struct film_process *p, struct batch *b, const struct film_ask *m,
                        size_t size)
{
    const struct inputs *in = b->context->inputs;
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
                           .stamp = film_stamp_of_change(in->path[film], in->parts[film]),
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
    int fd = answer_request(p, b, (int)m->slot, (enum file_request)m->request, m->path,
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

/* Returns true if an output of the film is for stdout, is not written, and its reader has gone. */
static bool is_abandoned(const struct slot *s)
{
    for (size_t k = 0; k < s->outputs->count; k++)
        if (outputs_is_stdout(s->outputs->output[k].path) && s->state[k] != OUTPUT_WRITTEN)
            return file_stdout_is_abandoned();
    return false;
}

/*
 * Sets the failure that a film reported, or its cause: the reader of stdout has gone, the parent
 * refused to write an output, or asked the film to end.
 */
static void set_failure(const struct batch *b, const struct slot *s, const struct film_end *m,
                        struct err *e)
{
    if (m->code == ERR_NONE)
        return;
    if (m->code == ERR_FAILED && is_abandoned(s))
        err_set(e, ERR_PIPE, "%s", m->text);
    else if (m->code == ERR_FAILED && s->refusal.code != ERR_NONE)
        *e = s->refusal;
    else if (m->code == ERR_FAILED && s->reason[0])
        err_set(e, ERR_FAILED, "'%s': %s", b->context->inputs->path[s->film], s->reason);
    else
        err_set(e, (enum err_code)m->code, "%s", m->text);
}

/*
 * Remembers that a film failed by its own fault: it is not a readable film (ERR_INPUT), which
 * neither memory nor the disk nor an interruption causes. Forgets a film that succeeded. Does
 * nothing if the film's files have changed meanwhile, as those that are being copied do.
 */
static void remember_end(const struct batch *b, const struct slot *s, const struct err *e)
{
    const struct job_context *c = b->context;
    const struct inputs *in = c->inputs;
    const size_t film = s->film;
    if (!c->plan->outputs.update || s->outputs->count == 0 ||
        (e->code != ERR_NONE && e->code != ERR_INPUT) ||
        film_stamp_of_change(in->path[film], in->parts[film]) != s->stamp)
        return;
    const struct failed_film f = outputs_failed_film(c->outputs, in, film);
    failed_films_set(&c->plan->cache, &f, e->code == ERR_INPUT);
}

static bool end_film(struct film_process *p, struct batch *b, const struct film_end *message,
                     size_t size)
{
    struct err e = ERR_INIT, unwritten = ERR_INIT;
    if (size != sizeof *message || message->slot >= WATCHES || !p->slot[message->slot].busy)
        return false;
    struct film_end m = *message;
    struct slot *s = &p->slot[m.slot];
    const bool written = all_written(s);
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
    remember_end(b, s, &e);
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
