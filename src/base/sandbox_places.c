#include "sandbox_places.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct place {
    const char *pattern; /* as for glob(3); "~" is $HOME */
    unsigned access;
};

enum { READ = SANDBOX_READ, WRITE = SANDBOX_WRITE, DEVICE = SANDBOX_DEVICE };

/* What the libraries and machine.c open. */
static const struct place library_places[] = {
    {"/usr", READ},
    {"/lib", READ},
    {"/lib64", READ},
    {"/etc/ld.so.cache", READ},
    {"/etc/localtime", READ},
    {"/proc/self", READ},
    {"/proc/meminfo", READ},
    {"/proc/stat", READ},
    {"/proc/sys/vm/overcommit_memory", READ}, /* malloc */
    {"/sys/devices/system/cpu", READ},
    {"/sys/fs/cgroup", READ},
    {"/dev/null", READ | WRITE},
    {"/dev/urandom", READ},
};

/* What resolving a host's name and checking its certificate open. */
static const struct place name_places[] = {
    {"/etc/hosts", READ},           {"/etc/resolv.conf", READ}, {"/etc/nsswitch.conf", READ},
    {"/etc/host.conf", READ},       {"/etc/gai.conf", READ},    {"/etc/services", READ},
    {"/etc/protocols", READ},       {"/etc/ssl", READ},         {"/etc/pki", READ},
    {"/etc/ca-certificates", READ}, {"/etc/gnutls", READ},      {"/run/systemd/resolve", READ},
};

/* What libcuda and libnvcuvid open besides. The driver is loaded when a film needs it. */
static const struct place gpu_places[] = {
    {"/dev/nvidia[0-9]*", READ | WRITE | DEVICE},
    {"/dev/nvidiactl", READ | WRITE | DEVICE},
    {"/dev/nvidia-uvm*", READ | WRITE | DEVICE},
    {"/dev/nvidia-modeset", READ | WRITE | DEVICE},
    {"/dev/nvidia-caps", READ | WRITE | DEVICE},
    {"/dev/nvidia-caps-imex-channels", READ | WRITE | DEVICE},
    {"/dev/dxg", READ | WRITE | DEVICE}, /* Windows Subsystem for Linux */
    {"/dev/shm", READ | WRITE},
    {"/proc/self", READ | WRITE}, /* names of threads */
    {"/proc/driver", READ},
    {"/proc/devices", READ},
    {"/proc/modules", READ},
    {"/proc/cpuinfo", READ},
    {"/proc/filesystems", READ},
    {"/proc/version", READ},
    {"/proc/sys/vm", READ},
    {"/proc/sys/kernel", READ},
    {"/sys/devices", READ},
    {"/sys/bus", READ},
    {"/sys/class", READ},
    {"/sys/module", READ},
    {"/sys/kernel/mm", READ},
    {"/etc/nvidia*", READ},
    {"/opt/nvidia", READ},
    {"/opt/cuda", READ},
    {"/run/nvidia-persistenced", READ},
    {"/run/opengl-driver", READ},
};

static bool allow_places(struct sandbox *s, const struct place *place, size_t places, struct err *e)
{
    bool ok = true;
    for (size_t i = 0; i < places; i++) {
        glob_t found = {.gl_pathc = 0};
        if (glob(place[i].pattern, GLOB_TILDE | GLOB_NOSORT, NULL, &found) == 0)
            for (size_t k = 0; k < found.gl_pathc && ok; k++)
                ok = sandbox_allow(s, found.gl_pathv[k], place[i].access, e);
        globfree(&found);
    }
    return ok;
}

bool sandbox_allow_libraries(struct sandbox *s, struct err *e)
{
    return allow_places(s, library_places, sizeof library_places / sizeof *library_places, e);
}

bool sandbox_allow_names(struct sandbox *s, struct err *e)
{
    return allow_places(s, name_places, sizeof name_places / sizeof *name_places, e);
}

bool sandbox_gpu_exists(void)
{
    return access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0 ||
           access("/proc/driver/nvidia", F_OK) == 0;
}

/*
 * Makes the driver's devices. Without a display, the first program that uses CUDA makes them by
 * executing this setuid program, which a sandbox refuses.
 */
void sandbox_make_devices(void)
{
    char *const call[] = {"nvidia-modprobe", "-c", "0", "-u", NULL};
    char *const environment[] = {NULL};
    pid_t child;
    if (access("/dev/nvidia-uvm", F_OK) != 0 &&
        posix_spawn(&child, "/usr/bin/nvidia-modprobe", NULL, NULL, call, environment) == 0)
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            continue;
}

/*
 * Writes the folder where the driver keeps kernels that it has compiled for this GPU. Returns false
 * if there is none.
 */
bool sandbox_compiled_kernels(char *path, size_t room)
{
    const char *named = secure_getenv("CUDA_CACHE_PATH"), *home = secure_getenv("HOME");
    if (named && *named)
        return (size_t)snprintf(path, room, "%s", named) < room;
    return home && *home && (size_t)snprintf(path, room, "%s/.nv/ComputeCache", home) < room;
}

/* Allows what the driver needs, which the loader also looks for in the folders of a variable. */
bool sandbox_allow_nvidia(struct sandbox *s, struct err *e)
{
    const char *folders = secure_getenv("LD_LIBRARY_PATH");
    char *list = strdup(folders ? folders : ""), *rest = NULL;
    char kernels[PATH_MAX];
    bool ok = list && allow_places(s, gpu_places, sizeof gpu_places / sizeof *gpu_places, e);
    if (sandbox_compiled_kernels(kernels, sizeof kernels))
        ok = ok && sandbox_allow(s, kernels, READ | WRITE, e);
    for (char *at = list ? strtok_r(list, ":;", &rest) : NULL; at && ok;
         at = strtok_r(NULL, ":;", &rest))
        ok = sandbox_allow(s, at, READ, e);
    sandbox_allow_gpu(s);
    free(list);
    return ok;
}
