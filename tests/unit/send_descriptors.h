/*
 * send_descriptors.h - messages with any number of descriptors, which link_send() never sends.
 */
#ifndef SEND_DESCRIPTORS_H
#define SEND_DESCRIPTORS_H

#include <string.h>
#include <sys/socket.h>

/* Sends a message with a descriptor so many times (0 to 8). Returns what sendmsg(2) returns. */
static inline ssize_t send_descriptors(int link, const void *bytes, size_t size, int fd, int count,
                                       int flags)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(8 * sizeof(int))];
    } control;
    memset(&control, 0, sizeof control); /* an initializer need not clear more than its member */
    control.header = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
                                      .cmsg_type = SCM_RIGHTS,
                                      .cmsg_len = CMSG_LEN((size_t)count * sizeof(int))};
    for (int i = 0; i < count; i++)
        memcpy(CMSG_DATA(&control.header) + (size_t)i * sizeof fd, &fd, sizeof fd);
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = size};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    if (count > 0) {
        m.msg_control = control.bytes;
        m.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
    }
    return sendmsg(link, &m, flags);
}

#endif
