/* serve_none.c - in place of serve.c in a build without libmicrohttpd. */
#include "serve.h"

#include <stddef.h>

struct server *serve_open(const struct serve_address *a, const struct live_feed *f,
                          const char *title, struct err *e)
{
    (void)a, (void)f, (void)title;
    err_set(e, ERR_USAGE, "--serve: this build has no server (libmicrohttpd was not there)");
    return NULL;
}

int serve_descriptor(const struct server *s)
{
    (void)s;
    return -1;
}

int serve_run(struct server *s)
{
    (void)s;
    return -1;
}

void serve_close(struct server **s) { *s = NULL; }
