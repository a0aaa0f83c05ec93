#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "cli_values.h"

/* Splits [ADDR:]PORT at its last colon, and takes the brackets off an IPv6 address. */
static bool split(const char *text, struct serve_address *a)
{
    const char *colon = strrchr(text, ':'), *host = text;
    size_t length = colon ? (size_t)(colon - text) : 0;
    uint64_t port;
    if (!cli_read_whole(colon ? colon + 1 : text, 0, UINT16_MAX, &port))
        return false;
    if (colon && *text == '[') {
        if (length < 3 || colon[-1] != ']')
            return false;
        host++;
        length -= 2;
    } else if (colon && (length == 0 || memchr(text, ':', length)))
        return false;
    if (!colon)
        host = "127.0.0.1", length = strlen(host);
    if (length >= sizeof a->host)
        return false;
    memcpy(a->host, host, length);
    a->host[length] = 0;
    a->port = (uint16_t)port;
    a->given = true;
    return true;
}

bool cli_parse_serve(const char *text, struct options *o, struct err *e)
{
    return split(text, &o->live.serve) ||
           err_set(e, ERR_USAGE,
                   "--serve: '%s' is not [ADDR:]PORT, such as 8080, 0.0.0.0:8080 or [::1]:8080",
                   text);
}

bool cli_parse_live_format(const char *text, struct options *o, struct err *e)
{
    o->live.format = strcmp(text, "rgb") == 0     ? LIVE_FORMAT_RGB
                     : strcmp(text, "jsonl") == 0 ? LIVE_FORMAT_JSONL
                                                  : LIVE_FORMAT_NONE;
    return o->live.format != LIVE_FORMAT_NONE ||
           err_set(e, ERR_USAGE, "--live-format: '%s' is not rgb or jsonl", text);
}
