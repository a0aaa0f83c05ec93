/*
 * sandbox_places.h - what a confined process needs besides its own files: the libraries' files,
 * those that name hosts, and a GPU's driver. The tables in sandbox_places.c have the names; `strace
 * -f` shows what is missing there.
 */
#ifndef BARCODE_SANDBOX_PLACES_H
#define BARCODE_SANDBOX_PLACES_H

#include <stdbool.h>
#include <stddef.h>

#include "barcode/base/err.h"
#include "sandbox.h"

/* Allow what libraries, resolving of host names, and the driver of an NVIDIA GPU open. Return false
 * if out of memory. */
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

/*
 * Writes the folder where the driver keeps kernels that it has compiled for this GPU. Returns false
 * if there is none.
 */
bool sandbox_compiled_kernels(char *path, size_t room);

#endif
