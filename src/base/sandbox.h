/*
 * sandbox.h - takes from the calling process what it does not need, for good. It is meant for a
 * process that decodes files from strangers: code that such a file injects has no more rights.
 *
 * After sandbox_enter the process and its threads
 *
 * - open, list, make, truncate and remove only what sandbox_allow named (Landlock);
 * - make no TCP or UDP connection (unless sandbox_allow_network), and reach no socket of another
 * process (seccomp, Landlock);
 * - execute no program, start no process, and outlive no parent that asked for PR_SET_PDEATHSIG;
 * - trace and signal no other process, and change no limit, priority or processor of one;
 * - change no mode, owner, time, attribute or link of any file, also not by an open descriptor;
 * - call none of io_uring, bpf, mount, namespaces, keyrings, userfaultfd, perf, module loading,
 *   open_by_handle_at (seccomp);
 * - gain no privilege (no_new_privs); as root, keep only CAP_DAC_OVERRIDE and CAP_FOWNER;
 * - dump no core, and are traced by nobody but root;
 * - have no descriptor from before but the standard streams and those of sandbox_keep.
 *
 * What stays possible: metadata of all files (stat, readlink), all reads and writes through open
 * descriptors, and using memory and time. Bugs of the kernel are outside of this.
 *
 * Landlock needs Linux 5.13, and a kernel or container that enables it. Older versions of Landlock
 * do not restrict TCP, devices and signals, but the list of refused calls does.
 */
#ifndef BARCODE_SANDBOX_H
#define BARCODE_SANDBOX_H

#include "barcode/base/err.h"

/* --sandbox. REQUIRE fails where AUTO continues without a part that the kernel lacks. */
enum sandbox_choice { SANDBOX_AUTO, SANDBOX_REQUIRE, SANDBOX_OFF };

/* What may be done with a file, or with everything below a folder. Values can be combined. */
enum sandbox_access {
    SANDBOX_READ = 1, /* read files, list folders */
    /* write and truncate files; in a folder, also list, make and remove files, and make folders */
    SANDBOX_WRITE = 2,
    SANDBOX_DEVICE = 4, /* ioctl */
    SANDBOX_FOLDERS = 8 /* rename and remove folders */
};

/* What the process may use. One thread. */
struct sandbox;

/* Returns an empty list, which allows nothing. */
struct sandbox *sandbox_new(struct err *e);
void sandbox_free(struct sandbox **s);

/*
 * Allows `access` to what `path` names when sandbox_enter is called; a link is followed. A path
 * that does not exist then has no effect.
 */
bool sandbox_allow(struct sandbox *s, const char *path, unsigned access, struct err *e);

/* Keeps a descriptor open; -1: none. */
bool sandbox_keep(struct sandbox *s, int fd, struct err *e);

/* Allows what an NVIDIA driver needs beyond files: local sockets that no connection reaches. */
void sandbox_allow_gpu(struct sandbox *s);

/* Allows TCP and UDP, for network streams or a server; no local socket of another process. */
void sandbox_allow_network(struct sandbox *s);

/* ---- what a confined process needs besides its own files: the tables in sandbox.c ---- */

/*
 * Allow what libraries, resolving of host names, and the driver of an NVIDIA GPU open. Return false
 * if out of memory.
 */
bool sandbox_allow_libraries(struct sandbox *s, struct err *e);
bool sandbox_allow_names(struct sandbox *s, struct err *e);
bool sandbox_allow_nvidia(struct sandbox *s, struct err *e);

/* Returns true if this machine seems to have a GPU. Does not load the driver. */
bool sandbox_gpu_exists(void);

/*
 * Makes the driver's devices. Without a display, the first program that uses CUDA makes them by
 * executing a setuid program, which a sandbox refuses. Call it before the sandbox is entered.
 */
void sandbox_make_devices(void);

/* Writes the folder where the driver keeps compiled kernels. Returns false if there is none. */
bool sandbox_compiled_kernels(char *path, size_t room);

/* ---- entering ---- */

/* Returns what the kernel lacks for sandbox_enter, for a message; NULL: nothing. Any thread. */
const char *sandbox_missing(void);

/*
 * Confines the calling process, which must have one thread. Returns false with ERR_FAILED if a part
 * could not be applied; all others are. Never allows again what an earlier call has refused.
 */
bool sandbox_enter(const struct sandbox *s, struct err *e);

/*
 * Returns what --sandbox means in this build: a sanitizer (SANITIZED, by the Makefile) executes a
 * symbolizer and reads its suppressions when the process ends, so there AUTO is OFF.
 */
enum sandbox_choice sandbox_choice_of(enum sandbox_choice choice);

/* Logs what the kernel lacks before a fork; fails with ERR_FAILED if REQUIRE needs it. */
bool sandbox_prepare(enum sandbox_choice choice, struct err *e);

/*
 * Confines a worker process by sandbox_enter. If that is incomplete, or `s` is NULL, returns false
 * with ERR_FAILED for REQUIRE, and logs the cause at -v otherwise. `e` may have an error of `s`.
 */
bool sandbox_enter_by(enum sandbox_choice choice, const struct sandbox *s, struct err *e);

#endif
