#include "barcode/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "barcode/interrupt.h"
#include "barcode/log.h"

enum word { TAKES, DID, LEAVES };

/* One write, which a pipe keeps whole (POSIX: up to PIPE_BUF bytes). What the worker's failure was it told itself: the code is enough. */
struct message {
    enum word word;
    enum err_code code;
    size_t film;
    int status;              /* of LEAVES: the exit status to come               */
    bool lingers;            /* of LEAVES: nobody need wait for the process's end */
};

static void send(const struct worker *w, struct message m)
{
    /* Without a parent there is nobody to tell: the kernel ends this process in a moment. */
    ssize_t n = w->pipe < 0 ? 0 : write(w->pipe, &m, sizeof m);
    (void)n;
}

bool worker_start(struct worker *w)
{
    int end[2];
    *w = (struct worker){.pid = -1, .pipe = -1};
    if (pipe2(end, O_CLOEXEC) != 0) {
        log_msg(LOG_VERBOSE, "no worker process: %s", strerror(errno));
        return false;
    }
    fflush(NULL);                    /* what a buffer holds would be written twice */
    w->pid = interrupt_fork();
    if (w->pid < 0)
        log_msg(LOG_VERBOSE, "no worker process: %s", strerror(errno));
    w->pipe = w->pid > 0 ? end[0] : w->pid == 0 ? end[1] : -1;
    for (int i = 0; i < 2; i++)
        if (end[i] != w->pipe)
            close(end[i]);
    return w->pid > 0;
}

void worker_takes(struct worker *w, size_t film)
{
    send(w, (struct message){.word = TAKES, .film = film});
}

void worker_did(struct worker *w, size_t film, const struct err *failure)
{
    send(w, (struct message){.word = DID, .film = film, .code = failure ? failure->code : ERR_NONE});
}

/* Who reads what this program writes through a pipe reads to the last writer's end. */
static void let_go_of_streams(void)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    fflush(NULL);
    for (int i = 0; i < 3 && nothing >= 0; i++)
        dup2(nothing, i);
    if (nothing > 2)
        close(nothing);
}

void worker_leaves(struct worker *w, int status, bool lingers)
{
    if (w->pipe < 0)
        return;
    if (lingers)
        let_go_of_streams();
    send(w, (struct message){.word = LEAVES, .status = status, .lingers = lingers});
    close(w->pipe);
    w->pipe = -1;
}

static void forget(struct worker_films *films, size_t film)
{
    size_t kept = 0;
    for (size_t i = 0; i < films->count; i++)
        if (films->film[i] != film)
            films->film[kept++] = films->film[i];
    films->count = kept;
}

/* What the worker says until it leaves, or its end of the pipe is closed: the last of it. `films` are under way then. */
static struct message listen_to(const struct worker *w, struct film_queue *queue, struct worker_films *films)
{
    struct message m, last = {.word = TAKES};
    while (last.word != LEAVES && read(w->pipe, &m, sizeof m) == (ssize_t)sizeof m) {
        struct err failure = {.code = m.code};
        last = m;
        if (m.word == TAKES) {
            film_queue_take(queue, m.film);
            if (films->count < WORKER_FILMS_MOST)
                films->film[films->count++] = m.film;
        } else if (m.word == DID) {
            film_queue_done(queue, m.film, m.code == ERR_NONE ? NULL : &failure);
            forget(films, m.film);
        }
    }
    return last;
}

/* How it ended, as waitpid has it. */
static int wait_for(pid_t worker)
{
    int how = 0;
    pid_t gone;
    while ((gone = waitpid(worker, &how, 0)) < 0 && errno == EINTR)
        continue;
    return gone == worker ? how : SIGKILL;       /* somebody else took its status: it counts as killed */
}

enum worker_end worker_watch(struct worker *w, struct film_queue *queue, struct worker_films *films, struct err *e)
{
    *films = (struct worker_films){.count = 0};
    struct message last = listen_to(w, queue, films);
    bool leaves = last.word == LEAVES;
    int how = last.lingers ? 0 : wait_for(w->pid);
    interrupt_forget_worker();
    close(w->pipe);
    *w = (struct worker){.pid = -1, .pipe = -1, .status = !WIFEXITED(how) ? -1 : last.lingers ? last.status : WEXITSTATUS(how)};
    if (leaves)
        films->count = 0;
    if (WIFEXITED(how) && leaves)
        return WORKER_DONE;
    interrupt_remove_doomed();
    log_lift();
    if (WIFEXITED(how))              /* a library or a sanitizer ended it */
        err_set(e, ERR_FAILED, "the process that worked on it ended early, with status %d", WEXITSTATUS(how));
    else if (WTERMSIG(how) == SIGKILL)
        err_set(e, ERR_FAILED, "the process that worked on it was killed, which Linux does when memory runs out");
    else
        err_set(e, ERR_FAILED, "the process that worked on it crashed: %s", strsignal(WTERMSIG(how)));
    return films->count > 0 ? WORKER_CRASHED : WORKER_BROKE;
}
