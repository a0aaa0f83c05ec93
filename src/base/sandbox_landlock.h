/* sandbox_landlock.h - Landlock by system calls, for sandbox.c. */
#ifndef BARCODE_BASE_SANDBOX_LANDLOCK_H
#define BARCODE_BASE_SANDBOX_LANDLOCK_H

#include <stdbool.h>

/* Returns the version of the kernel's Landlock. Returns 0 with errno if there is none. */
int landlock_version(void);

/*
 * Returns a descriptor of rules that refuse everything which `version` knows, but TCP if `network`.
 * Returns -1 with errno on failure.
 */
int landlock_rules(int version, bool network);

/* Adds a rule; `access` as for sandbox_allow. Does nothing if the path cannot be opened. */
void landlock_allow(int rules, int version, const char *path, unsigned access);

/* Applies the rules to the calling thread, and closes them. Returns false with errno. */
bool landlock_enter(int rules);

#endif
