#include "film_client.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "film_messages.h"
#include "base/file.h"
#include "base/worker.h"
#include "base/log.h"

static int parent = -1; /* the link */

/* Serializes a question and its answer. */
static pthread_mutex_t talk = PTHREAD_MUTEX_INITIALIZER;

static void tell(const void *message, size_t size)
{
    if (!link_send(parent, message, size, -1))
        _exit(1);
}

/* Sends a question, and receives its answer of `size` bytes. Returns the descriptor, or -1. */
static int ask(const void *question, size_t length, void *answer, size_t size)
{
    int fd;
    pthread_mutex_lock(&talk);
    tell(question, length);
    if (link_wait(parent, answer, size, &fd) != (ssize_t)size)
        _exit(1);
    pthread_mutex_unlock(&talk);
    return fd;
}

/* Implements file_asking. */
static int ask_file(enum file_request request, const char *path, int *file)
{
    struct file_ask m = {.kind = FILM_ASK_FILE,
                         .slot = (uint32_t)watch_number(),
                         .request = request,
                         .file = file ? *file : -1};
    struct file_answer answer;
    size_t bytes = path ? strlen(path) + 1 : 1;
    errno = ENAMETOOLONG;
    if (bytes > sizeof m.path)
        return -1;
    if (path)
        memcpy(m.path, path, bytes);
    int fd = ask(&m, offsetof(struct file_ask, path) + bytes, &answer, sizeof answer);
    if (answer.error != 0) {
        errno = answer.error;
        return -1;
    }
    if (file)
        *file = answer.file;
    bool expected = request == FILE_READ || request == FILE_SCRATCH || request == FILE_WRITE ||
                    request == FILE_ADD;
    errno = EMFILE;
    return expected ? fd : 0;
}

void film_client_open(const struct worker *w)
{
    parent = w->link;
    file_ask = ask_file;
}

bool film_client_next(int slot, bool alone, size_t *film, uint64_t *serial)
{
    const struct film_ask m = {.kind = FILM_ASK, .slot = (uint32_t)slot, .alone = alone};
    struct film_answer answer;
    (void)ask(&m, sizeof m, &answer, sizeof answer);
    *film = (size_t)answer.film;
    *serial = answer.serial;
    return answer.found != 0;
}

void film_client_ended(int slot, const struct film_result *result, const struct err *failure)
{
    struct film_end m = {
        .kind = FILM_ENDED, .slot = (uint32_t)slot, .code = failure->code, .result = *result};
    memcpy(m.text, failure->text, sizeof m.text);
    if (failure->file)
        log_msg(LOG_DEBUG, "raised at %s:%d", failure->file, failure->line);
    tell(&m, sizeof m);
}

void film_client_again(int slot)
{
    const struct film_end m = {.kind = FILM_AGAIN, .slot = (uint32_t)slot};
    tell(&m, offsetof(struct film_end, code));
}
