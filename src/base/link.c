#include "link.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "watch.h"

enum { WAIT_MS = 100 };

/* The ancillary data of one descriptor, aligned as cmsg(3) requires. */
union control {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr header;
};

bool link_open(int end[2], struct err *e)
{
    const int room = 4 * LINK_BYTES;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, end) != 0)
        return err_set(e, ERR_FAILED, "cannot open a link between processes: %s", strerror(errno));
    for (int i = 0; i < 2; i++) /* the default may be too small for LINK_BYTES */
        (void)setsockopt(end[i], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    return true;
}

bool link_try_send(int link, const void *message, size_t size, int fd)
{
    union control control;
    struct iovec part = {.iov_base = (void *)message, .iov_len = size};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    ssize_t n;
    if (fd >= 0) {
        memset(&control, 0, sizeof control);
        m.msg_control = control.bytes;
        m.msg_controllen = sizeof control.bytes;
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    do
        n = sendmsg(link, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)size;
}

/* Waits a moment for `events`. */
static void wait_for(int link, short events)
{
    struct pollfd p = {.fd = link, .events = events};
    (void)poll(&p, 1, WAIT_MS);
    watch_moved();
}

bool link_send(int link, const void *message, size_t size, int fd)
{
    bool sent;
    while (!(sent = link_try_send(link, message, size, fd))) {
        /* The user's processes have too many descriptors on their way, or the kernel no memory. */
        bool refused = errno == ETOOMANYREFS || errno == ENOBUFS || errno == ENOMEM;
        if (errno != EAGAIN && !refused)
            return false;
        wait_for(link, refused ? 0 : POLLOUT);
    }
    return true;
}

/* Returns the descriptor of a message, or -1. The kernel has closed those beyond the first. */
static int passed_descriptor(struct msghdr *m)
{
    int fd = -1;
    struct cmsghdr *c = CMSG_FIRSTHDR(m);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len == CMSG_LEN(sizeof fd))
        memcpy(&fd, CMSG_DATA(c), sizeof fd);
    return fd;
}

ssize_t link_receive(int link, void *message, size_t room, int *fd)
{
    union control control;
    struct iovec part = {.iov_base = message, .iov_len = room};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = CMSG_LEN(sizeof *fd)}; /* no room for a second one */
    ssize_t n;
    *fd = -1;
    do
        n = recvmsg(link, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return errno == EAGAIN ? LINK_EMPTY : LINK_CLOSED;
    *fd = passed_descriptor(&m);
    /* without one of several: this process can open no more */
    bool broken = (m.msg_flags & MSG_TRUNC) || (*fd >= 0 && (m.msg_flags & MSG_CTRUNC));
    if (broken && *fd >= 0) {
        close(*fd);
        *fd = -1;
    }
    return broken ? LINK_BROKEN : n;
}

ssize_t link_wait(int link, void *message, size_t room, int *fd)
{
    ssize_t n;
    while ((n = link_receive(link, message, room, fd)) == LINK_EMPTY)
        wait_for(link, POLLIN);
    return n;
}
