#include "live_confine.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/path.h"
#include "base/sandbox.h"
#include "base/worker.h"
#include "plan/outputs.h"

static bool uses_gpu(const struct options *o)
{
    return o->engine.choice != ENGINE_CPU && sandbox_gpu_exists();
}

/* How many folders were made, the last ones of the outputs' path. */
static int made;

void live_confine_tidy(const struct options *o)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", o->outputs.path ? o->outputs.path : "");
    for (size_t length; made > 0 && rmdir(path) == 0; made--)
        path[path_last(path, &length) - path] = 0;
}

bool live_confine_prepare(const struct options *o, struct err *e)
{
    char path[PATH_MAX];
    if (!sandbox_prepare(sandbox_choice_of(o->process.sandbox), e))
        return false;
    if (uses_gpu(o))
        sandbox_make_devices();
    if (!o->outputs.path || outputs_is_stdout(o->outputs.path))
        return true;
    snprintf(path, sizeof path, "%s", o->outputs.path);
    made = path_make_folders(path, 0777);
    if (errno != 0 || access(path, W_OK | X_OK) != 0)
        return err_set(e, ERR_FAILED, "cannot write to the folder '%s': %s", path, strerror(errno));
    return true;
}

/* Allows a device, or a folder; for a picture its folder, because it will be replaced. */
static bool allow_path(struct sandbox *s, const char *path, struct err *e)
{
    char folder[PATH_MAX];
    struct stat st;
    bool there = stat(path, &st) == 0, device = there && S_ISCHR(st.st_mode);
    size_t length;
    const char *last = path_last(path, &length);
    snprintf(folder, sizeof folder, "%.*s", (int)(last - path), path);
    if (there && S_ISREG(st.st_mode))
        path = folder[0] ? folder : ".";
    return sandbox_allow(s, path, SANDBOX_READ | (device ? SANDBOX_WRITE | SANDBOX_DEVICE : 0U), e);
}

static bool allow_all(struct sandbox *s, const struct options *o, struct err *e)
{
    bool ok = sandbox_allow_libraries(s, e) && (!uses_gpu(o) || sandbox_allow_nvidia(s, e));
    for (size_t i = 0; i < o->inputs.count && ok; i++) {
        if (strstr(o->inputs.argument[i], "://")) {
            sandbox_allow_network(s);
            ok = sandbox_allow_names(s, e);
        } else if (strcmp(o->inputs.argument[i], "-") != 0) {
            ok = allow_path(s, o->inputs.argument[i], e);
        }
    }
    return ok;
}

bool live_confine_enter(const struct options *o, int link, struct err *e)
{
    const enum sandbox_choice choice = sandbox_choice_of(o->process.sandbox);
    unsigned streams = 0;
    process_limits_set(limits_memory());
    if (choice == SANDBOX_OFF)
        return true;
    for (size_t i = 0; i < o->inputs.count; i++)
        if (strcmp(o->inputs.argument[i], "-") == 0)
            streams = 1U << STDIN_FILENO;
    worker_leave_streams(streams);
    struct sandbox *s = sandbox_new(e);
    if (s && sandbox_keep(s, link, e))
        (void)allow_all(s, o, e);
    bool ok = sandbox_enter_by(choice, s, e);
    sandbox_free(&s);
    return ok;
}
