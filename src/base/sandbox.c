#include "sandbox.h"

#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "log.h"
#include "sandbox_calls.h"
#include "sandbox_landlock.h"

struct allowed {
    char *path;
    unsigned access;
};

struct sandbox {
    struct allowed *allowed;
    size_t count, room;
    int *kept;
    size_t keeps, keep_room;
    bool gpu, network;
};

struct sandbox *sandbox_new(struct err *e) { return err_calloc(1, sizeof(struct sandbox), e); }

/* Returns true for an entry that one of the latest equals: films share the folders of outputs. */
static bool is_repeated(const struct sandbox *s, const char *path, unsigned access)
{
    enum { LATEST = 8 };
    for (size_t i = s->count; i > 0 && s->count - i < LATEST; i--)
        if (s->allowed[i - 1].access == access && strcmp(s->allowed[i - 1].path, path) == 0)
            return true;
    return false;
}

bool sandbox_allow(struct sandbox *s, const char *path, unsigned access, struct err *e)
{
    if (is_repeated(s, path, access))
        return true;
    if (!err_reserve(&s->allowed, s->count + 1, &s->room, sizeof *s->allowed, e))
        return false;
    struct allowed *new = &s->allowed[s->count];
    *new = (struct allowed){.path = strdup(path), .access = access};
    if (!new->path)
        return err_memory(e, strlen(path) + 1);
    s->count++;
    return true;
}

bool sandbox_keep(struct sandbox *s, int fd, struct err *e)
{
    if (!err_reserve(&s->kept, s->keeps + 1, &s->keep_room, sizeof *s->kept, e))
        return false;
    s->kept[s->keeps++] = fd;
    return true;
}

void sandbox_allow_gpu(struct sandbox *s) { s->gpu = true; }

void sandbox_allow_network(struct sandbox *s) { s->network = true; }

void sandbox_free(struct sandbox **s)
{
    if (!*s)
        return;
    for (size_t i = 0; i < (*s)->count; i++)
        free((*s)->allowed[i].path);
    free((*s)->allowed);
    free((*s)->kept);
    free(*s);
    *s = NULL;
}

const char *sandbox_missing(void)
{
    if (landlock_version() == 0)
        return errno == ENOSYS ? "Landlock, which needs Linux 5.13"
                               : "Landlock, which is disabled here";
    return sandbox_filters_calls() ? NULL : "a filter of system calls (seccomp)";
}

/* Closes the descriptors from `first` to `last`. */
static void close_range_of(unsigned first, unsigned last)
{
    enum { CLOSE_RANGE = 436 }; /* Linux 5.9; the same number on all processors */
    if (syscall(CLOSE_RANGE, first, last, 0) == 0)
        return;
    const long most = sysconf(_SC_OPEN_MAX);
    for (long fd = first; fd <= (long)last && fd < most; fd++)
        close((int)fd);
}

/* Closes all descriptors but the standard streams and those of sandbox_keep. */
static void close_others(const struct sandbox *s)
{
    unsigned first = STDERR_FILENO + 1;
    for (unsigned kept = 0; kept < UINT_MAX; first = kept + 1) {
        kept = UINT_MAX;
        for (size_t i = 0; i < s->keeps; i++)
            if (s->kept[i] >= (int)first && (unsigned)s->kept[i] < kept)
                kept = (unsigned)s->kept[i];
        if (kept > first)
            close_range_of(first, kept - 1);
    }
}

/* Drops all capabilities but those for files of other users. Only root has any. */
static bool drop_capabilities(void)
{
    const unsigned kept = 1U << CAP_DAC_OVERRIDE | 1U << CAP_FOWNER;
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &header, data) != 0)
        return false;
    for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        data[i].permitted &= i == 0 ? kept : 0;
        data[i].effective &= data[i].permitted;
        data[i].inheritable = 0;
    }
    return syscall(SYS_capset, &header, data) == 0;
}

/* Applies the rules for files, TCP, sockets and signals. */
static bool restrict_files(const struct sandbox *s)
{
    int version = landlock_version();
    int rules = version > 0 ? landlock_rules(version, s->network) : -1;
    for (size_t i = 0; i < s->count && rules >= 0; i++)
        landlock_allow(rules, version, s->allowed[i].path, s->allowed[i].access);
    return rules >= 0 && landlock_enter(rules);
}

static bool failed(const char *what, int error, struct err *e)
{
    return e->code != ERR_NONE || err_set(e, ERR_FAILED, "cannot %s: %s", what, strerror(error));
}

bool sandbox_enter(const struct sandbox *s, struct err *e)
{
    const struct rlimit none = {0, 0};
    close_others(s);
    if (setrlimit(RLIMIT_CORE, &none) != 0 || prctl(PR_SET_DUMPABLE, 0) != 0)
        failed("turn core dumps off", errno, e);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        failed("set no_new_privs", errno, e);
    if (!restrict_files(s))
        failed("restrict files by Landlock", errno, e);
    if (!drop_capabilities())
        failed("drop capabilities", errno, e);
    int error = sandbox_refuse_calls(s->gpu, s->network);
    if (error != 0)
        failed("refuse system calls by seccomp", error, e);
    return e->code == ERR_NONE;
}

enum sandbox_choice sandbox_choice_of(enum sandbox_choice choice)
{
#ifdef SANITIZED
    if (choice == SANDBOX_AUTO)
        return SANDBOX_OFF;
#endif
    return choice;
}

bool sandbox_prepare(enum sandbox_choice choice, struct err *e)
{
    const char *missing = choice == SANDBOX_OFF ? NULL : sandbox_missing();
    if (missing && choice == SANDBOX_REQUIRE)
        return err_set(e, ERR_FAILED, "--sandbox=require: the kernel lacks %s", missing);
    if (missing)
        log_msg(LOG_VERBOSE, "the sandbox is incomplete: the kernel lacks %s", missing);
    return true;
}

bool sandbox_enter_by(enum sandbox_choice choice, const struct sandbox *s, struct err *e)
{
    if (e->code == ERR_NONE && sandbox_enter(s, e))
        return true;
    if (choice == SANDBOX_REQUIRE)
        return err_prefix(e, "--sandbox=require");
    if (!sandbox_missing()) /* sandbox_prepare has logged that */
        log_msg(LOG_VERBOSE, "the sandbox is incomplete: %s", e->text);
    err_clear(e);
    return true;
}
