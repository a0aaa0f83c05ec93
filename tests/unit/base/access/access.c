/* In place of libc's: in the second round no file without a name can get one, for there is no /proc,
 * and no file system can exchange names. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test.h"

int access(const char *path, int mode)
{
    errno = ENOENT;
    return test_round == 1 && strncmp(path, "/proc/", 6) == 0 ? -1
                                                              : faccessat(AT_FDCWD, path, mode, 0);
}

int renameat2(int from, const char *old, int to, const char *new, unsigned flags)
{
    errno = EINVAL;
    return test_round == 1 ? -1 : (int)syscall(SYS_renameat2, from, old, to, new, flags);
}
