#include "barcode/interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
static atomic_bool asked;

static void on_signal(int number)
{
    (void)number;
    /*
     * Whichever comes next finds the default action and kills; but a terminal that closes says SIGHUP more than once
     * (the kernel and the shell), and a service manager sends it directly after SIGTERM: neither is a second request.
     */
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        signal(caught[i], caught[i] == SIGHUP ? SIG_IGN : SIG_DFL);
    atomic_store(&asked, true);
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

bool interrupt_error(struct err *e)
{
    return err_set(e, ERR_INTERRUPTED, "interrupted; nothing of it was written");
}
