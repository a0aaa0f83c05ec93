#include "serve_socket.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WAITING = 128 }; /* connections that the kernel keeps until they are accepted */

static int listen_on(const struct addrinfo *a)
{
    const int yes = 1, no = 0;
    int fd = socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, a->ai_protocol);
    if (fd < 0)
        return -1;
    /* A restart listens again at once; [::] also serves IPv4. */
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (a->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, WAITING) == 0)
        return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

static int port_of(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } bound = {.v6 = {.sin6_port = 0}};
    socklen_t length = sizeof bound;
    if (getsockname(fd, &bound.any, &length) != 0)
        return 0;
    return ntohs(bound.any.sa_family == AF_INET6 ? bound.v6.sin6_port : bound.v4.sin_port);
}

int serve_socket_listen(const struct serve_address *a, int *port, struct err *e)
{
    char service[8];
    snprintf(service, sizeof service, "%d", (int)a->port);
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *list = NULL;
    int status = getaddrinfo(a->host, service, &hints, &list), fd = -1;
    for (const struct addrinfo *i = list; status == 0 && i && fd < 0; i = i->ai_next)
        fd = listen_on(i);
    const char *why = status == 0 || status == EAI_SYSTEM ? strerror(errno) : gai_strerror(status);
    if (list)
        freeaddrinfo(list);
    if (fd < 0)
        err_set(e, ERR_FAILED, "--serve: cannot listen on '%s', port %d: %s", a->host, (int)a->port,
                why);
    else
        *port = port_of(fd);
    return fd;
}
