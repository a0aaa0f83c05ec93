#include "slow_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "file.h"
#include "interrupt.h"
#include "watch.h"

enum { WAIT_MS = 100 };

/*
 * Waits until the descriptor is ready or at its end. A signal does not interrupt a blocking read or
 * write: the handlers restart it, and the kernel may deliver the signal to another thread. If
 * `patient`, the wait counts as progress of the film.
 */
static bool wait_for(int fd, short events, bool patient)
{
    struct pollfd p = {.fd = fd, .events = events};
    for (;;) {
        if (patient ? interrupted() : interrupt_pending()) {
            errno = EINTR;
            return false;
        }
        int n = poll(&p, 1, WAIT_MS);
        if (n > 0)
            return true;
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return false;
    }
}

bool slow_is_fifo(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISFIFO(s.st_mode);
}

int slow_open(const char *path, bool writing)
{
    int number = file_descriptor(path);
    if (!writing)
        return file_open_read(path);
    if (number >= 0)
        return fcntl(number, F_DUPFD_CLOEXEC, 0);
    for (;;) {
        int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
        /* ENXIO: the FIFO has no reader yet. A socket also gives ENXIO, but permanently. */
        if (fd >= 0 || errno != ENXIO || !slow_is_fifo(path))
            return fd;
        if (interrupted()) {
            errno = EINTR;
            return -1;
        }
        nanosleep(&(struct timespec){.tv_nsec = WAIT_MS / 2 * 1000000L}, NULL);
    }
}

ssize_t slow_read(int fd, void *to, size_t bytes, bool patient)
{
    /*
     * A FIFO without a writer so far is empty but not at its end. Only poll can distinguish this.
     */
    while (wait_for(fd, POLLIN, patient)) {
        ssize_t n = read(fd, to, bytes);
        if (n > 0)
            watch_moved();
        if (n >= 0 || (errno != EINTR && errno != EAGAIN))
            return n;
    }
    return -1;
}

bool slow_write(int fd, const void *from, size_t bytes)
{
    const uint8_t *at = from;
    while (bytes > 0) {
        if (!wait_for(fd, POLLOUT, true))
            return false;
        /*
         * A pipe that poll reports as ready has room for PIPE_BUF bytes. A larger write would
         * block.
         */
        ssize_t n = write(fd, at, bytes < PIPE_BUF ? bytes : PIPE_BUF);
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return false;
        if (n > 0) {
            at += n;
            bytes -= (size_t)n;
        }
    }
    return true;
}
