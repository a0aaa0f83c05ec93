#include "shortage.h"

#include <errno.h>

/* shortage_look found memory short since shortage_begin. */
static _Thread_local bool seen;

void shortage_begin(void)
{
    seen = false;
    errno = 0;
}

bool shortage_met(void)
{
    return seen || errno == ENOMEM;
}

void shortage_look(void)
{
    seen |= errno == ENOMEM;
}

bool shortage_error(const char *path, const char *doing, struct err *e)
{
    return err_set(e, ERR_FAILED, "out of memory while '%s' was being %s", path, doing);
}
