/*
 * refused-calls.c - a library for LD_PRELOAD that names on stderr each call of a library which the
 * sandbox refuses: paths that are opened, sockets, programs. For hosts without strace. Calls that a
 * library makes without libc are not seen.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static void report(const char *call, const char *what, int failed)
{
    int error = errno;
    char line[4200];
    if (failed && (error == EPERM || error == EACCES)) {
        int length =
            snprintf(line, sizeof line, "refused: %s %s: %s\n", call, what, strerror(error));
        ssize_t n = write(STDERR_FILENO, line, (size_t)length);
        (void)n;
    }
    errno = error;
}

/* Defines a call that passes its arguments on and reports a failure. */
#define PASS_ON(type, name, parameters, arguments, what, failed) \
    type name parameters \
    { \
        __typeof__(&(name)) next; \
        void *found = dlsym(RTLD_NEXT, #name); \
        memcpy(&next, &found, sizeof next); /* ISO C has no conversion for it */ \
        type result = next arguments; \
        report(#name, what, result failed); \
        return result; \
    }

/* The mode is passed on whether there is one or not; the kernel ignores it then. */
#define OPEN(name) \
    int name(const char *path, int flags, ...) \
    { \
        va_list args; \
        va_start(args, flags); \
        unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, unsigned) : 0; \
        va_end(args); \
        int (*next)(const char *, int, ...); \
        void *found = dlsym(RTLD_NEXT, #name); \
        memcpy(&next, &found, sizeof next); \
        int result = next(path, flags, mode); \
        report(flags &O_ACCMODE ? #name " to write" : #name, path, result < 0); \
        return result; \
    }

OPEN(open)
OPEN(open64)
PASS_ON(FILE *, fopen, (const char *path, const char *mode), (path, mode), path, == NULL)
PASS_ON(FILE *, fopen64, (const char *path, const char *mode), (path, mode), path, == NULL)
PASS_ON(int, mkdir, (const char *path, mode_t mode), (path, mode), path, != 0)
PASS_ON(int, mknod, (const char *path, mode_t mode, dev_t device), (path, mode, device), path, != 0)
PASS_ON(int, chmod, (const char *path, mode_t mode), (path, mode), path, != 0)
PASS_ON(int, unlink, (const char *path), (path), path, != 0)
PASS_ON(int, socket, (int domain, int type, int protocol), (domain, type, protocol), "", < 0)
PASS_ON(int, bind, (int fd, __CONST_SOCKADDR_ARG to, socklen_t size), (fd, to, size), "", != 0)
PASS_ON(int, connect, (int fd, __CONST_SOCKADDR_ARG to, socklen_t size), (fd, to, size), "", != 0)
PASS_ON(int, listen, (int fd, int waiting), (fd, waiting), "", != 0)
PASS_ON(int, execve, (const char *path, char *const *argv, char *const *environment),
        (path, argv, environment), path, != 0)
