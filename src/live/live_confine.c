#include "live_confine.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "barcode/base/limits.h"
#include "barcode/base/log.h"
#include "barcode/base/path.h"
#include "barcode/base/process_limits.h"
#include "barcode/base/sandbox_places.h"
#include "barcode/cli/outputs.h"
#include "barcode/output/paint.h"

static enum sandbox_choice choice_of(const struct options *o)
{
#ifdef SANITIZED
    if (o->sandbox == SANDBOX_AUTO)
        return SANDBOX_OFF;
#endif
    return o->sandbox;
}

static bool uses_gpu(const struct options *o)
{
    return o->engine != ENGINE_CPU && sandbox_gpu_exists();
}

/* How many folders were made, the last ones of the outputs' path. */
static int made;

static bool make_folder(const char *path)
{
    bool is_new = mkdir(path, 0777) == 0;
    made += is_new;
    return is_new || errno == EEXIST;
}

static bool make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        (void)make_folder(path);
        *slash = '/';
    }
    return make_folder(path);
}

void live_confine_tidy(const struct options *o)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", o->output ? o->output : "");
    for (char *end = path + strlen(path); made > 0 && rmdir(path) == 0; made--) {
        while (end > path && end[-1] == '/')
            *--end = 0;
        while (end > path && end[-1] != '/')
            *--end = 0;
    }
}

bool live_confine_prepare(const struct options *o, struct err *e)
{
    char path[PATH_MAX];
    const char *missing = choice_of(o) == SANDBOX_OFF ? NULL : sandbox_missing();
    struct err none = ERR_INIT;
    if (missing && o->sandbox == SANDBOX_REQUIRE)
        return err_set(e, ERR_FAILED, "--sandbox=require: the kernel lacks %s", missing);
    if (missing)
        log_msg(LOG_VERBOSE, "the sandbox is incomplete: the kernel lacks %s", missing);
    if (uses_gpu(o))
        sandbox_make_devices();
    if (o->strips > 1)
        (void)paint_has_letters(&none); /* labels are optional */
    if (!o->output || outputs_is_stdout(o->output))
        return true;
    snprintf(path, sizeof path, "%s", o->output);
    if (!make_folders(path) || access(path, W_OK | X_OK) != 0)
        return err_set(e, ERR_FAILED, "cannot write to the folder '%s': %s", path, strerror(errno));
    return true;
}

static bool allow_letters(void *user, const char *path, struct err *e)
{
    return sandbox_allow(user, path, SANDBOX_READ, e);
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
    bool ok = sandbox_allow_libraries(s, e) && paint_letter_places(allow_letters, s, e) &&
              (!uses_gpu(o) || sandbox_allow_nvidia(s, e));
    if (o->output && !outputs_is_stdout(o->output))
        ok = ok && sandbox_allow(s, o->output, SANDBOX_READ | SANDBOX_WRITE, e);
    for (size_t i = 0; i < o->inputs && ok; i++) {
        if (strstr(o->input[i], "://")) {
            sandbox_allow_network(s);
            ok = sandbox_allow_names(s, e);
        } else if (strcmp(o->input[i], "-") != 0) {
            ok = allow_path(s, o->input[i], e);
        }
    }
    return ok;
}

bool live_confine_enter(const struct options *o, const struct live_feed *feed, int stop,
                        struct err *e)
{
    process_limits_set(limits_memory());
    if (choice_of(o) == SANDBOX_OFF)
        return true;
    struct sandbox *s = sandbox_new(e);
    bool ok = s && allow_all(s, o, e) && (!feed || live_feed_keep(feed, s, e)) &&
              sandbox_keep(s, stop, e) && sandbox_enter(s, e);
    sandbox_free(&s);
    if (ok || o->sandbox == SANDBOX_REQUIRE)
        return ok || err_prefix(e, "--sandbox=require");
    if (!sandbox_missing()) /* live_confine_prepare has logged that */
        log_msg(LOG_VERBOSE, "the sandbox is incomplete: %s", e->text);
    err_clear(e);
    return true;
}
