#include "sandbox_landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox.h"

/*
 * The kernel's interface (Documentation/userspace-api/landlock.rst). It is repeated here because
 * the headers of the build machine may be older than the kernel of the run. The numbers of the
 * calls are the same on all processors.
 */
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };
enum { RULESET_VERSION = 1, RULE_PATH_BENEATH = 1 };
enum {
    FS_WRITE_FILE = 1 << 1,
    FS_READ_FILE = 1 << 2,
    FS_READ_DIR = 1 << 3,
    FS_REMOVE_DIR = 1 << 4,
    FS_REMOVE_FILE = 1 << 5,
    FS_MAKE_DIR = 1 << 7,
    FS_MAKE_REG = 1 << 8,
    FS_TRUNCATE = 1 << 14,
    FS_IOCTL_DEV = 1 << 15,
    FS_OF_FILES = FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV
};
enum { NET_BIND_AND_CONNECT_TCP = 3, SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS = 3 };

struct ruleset {
    uint64_t fs, net, scoped;
};

struct path_beneath {
    uint64_t access;
    int32_t parent;
} __attribute__((packed));

/* Returns the rights of the file system that a version knows: the lowest bits. */
static uint64_t known(int version)
{
    int bits = version < 2 ? 13 : version < 3 ? 14 : version < 5 ? 15 : 16;
    return (UINT64_C(1) << bits) - 1;
}

int landlock_version(void)
{
    long version = syscall(CREATE_RULESET, NULL, (size_t)0, RULESET_VERSION);
    return version > 0 ? (int)version : 0;
}

int landlock_rules(int version, bool network)
{
    struct ruleset r = {.fs = known(version),
                        .net = version < 4 || network ? 0 : NET_BIND_AND_CONNECT_TCP,
                        .scoped = version < 6 ? 0 : SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS};
    size_t size = version < 4   ? offsetof(struct ruleset, net)
                  : version < 6 ? offsetof(struct ruleset, scoped)
                                : sizeof r;
    return (int)syscall(CREATE_RULESET, &r, size, 0);
}

void landlock_allow(int rules, int version, const char *path, unsigned access)
{
    struct stat s;
    struct path_beneath rule = {.parent = open(path, O_PATH | O_CLOEXEC)};
    if (rule.parent < 0)
        return;
    if (access & SANDBOX_READ)
        rule.access |= FS_READ_FILE | FS_READ_DIR;
    if (access & SANDBOX_WRITE)
        rule.access |=
            FS_WRITE_FILE | FS_TRUNCATE | FS_READ_DIR | FS_REMOVE_FILE | FS_MAKE_REG | FS_MAKE_DIR;
    if (access & SANDBOX_DEVICE)
        rule.access |= FS_IOCTL_DEV;
    if (access & SANDBOX_FOLDERS)
        rule.access |= FS_REMOVE_DIR;
    rule.access &= known(version);
    if (fstat(rule.parent, &s) == 0 && !S_ISDIR(s.st_mode))
        rule.access &= FS_OF_FILES;
    /* EBADFD: a pipe or socket, named through /proc. Opening those needs no right. */
    (void)syscall(ADD_RULE, rules, RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent);
}

bool landlock_enter(int rules)
{
    bool ok = syscall(RESTRICT_SELF, rules, 0) == 0;
    int error = errno;
    close(rules);
    errno = error;
    return ok;
}
