#include "barcode/interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

enum { DOOMED_MAX = 256 };

static _Atomic(const char *) doomed[DOOMED_MAX];
static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
static atomic_bool asked;

static void on_signal(int number)
{
    /*
     * The second signal kills, unless it is SIGHUP. A closing terminal sends SIGHUP more than once (from the kernel and from
     * the shell), and a service manager sends one directly after SIGTERM: neither is a second request.
     */
    if (!atomic_exchange(&asked, true) || number == SIGHUP)
        return;
    for (size_t i = 0; i < DOOMED_MAX; i++) {
        const char *path = atomic_exchange(&doomed[i], NULL);
        if (path)
            unlink(path);
    }
    signal(number, SIG_DFL);
    raise(number);            /* takes effect when this handler returns */
}

void interrupt_install(void)
{
    /* SA_RESTART: reads and writes of files go on, so that Ctrl-C is not taken for a broken disk. */
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) {
        struct sigaction old;
        /* What the parent ignores (nohup, a script's background job) stays ignored. */
        if (sigaction(caught[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(caught[i], &action, NULL);
    }
    /* A closed pipe and a file over the user's limit are errors of the write that meets them. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

bool interrupted(void)
{
    return atomic_load(&asked);
}

int interrupt_doom(const char *path)
{
    for (int i = 0; i < DOOMED_MAX; i++) {
        const char *none = NULL;
        if (atomic_compare_exchange_strong(&doomed[i], &none, path))
            return i;
    }
    return -1;
}

void interrupt_spare(int number)
{
    /* Another thread's handler has the string, and ends the process in a moment. */
    while (number >= 0 && !atomic_exchange(&doomed[number], NULL))
        pause();
}

bool interrupt_error(struct err *e)
{
    return err_set(e, ERR_INTERRUPTED, "interrupted; nothing of it was written");
}

bool interrupt_output(const char *path, struct err *e)
{
    return err_set(e, ERR_INTERRUPTED, "interrupted while '%s' was being written", path);
}
