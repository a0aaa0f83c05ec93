#include "serve_host.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { HOST = 256 };

/* Copies the host of HOST[:PORT] without the brackets of IPv6. Returns false if there is none. */
static bool copy_host(const char *text, char host[HOST])
{
    const bool bracket = *text == '[';
    text += bracket;
    size_t length = strcspn(text, bracket ? "]" : ":");
    const char *rest = text + length + (bracket && text[length] == ']');
    if (length == 0 || length >= HOST || (bracket && text[length] != ']'))
        return false;
    if (*rest && (*rest != ':' || rest[1 + strspn(rest + 1, "0123456789")]))
        return false;
    memcpy(host, text, length);
    host[length] = 0;
    return true;
}

static bool is_address(const char *host)
{
    unsigned char address[16];
    return inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
}

/* Returns true if both are the same address or name. */
static bool is_same(const char *a, const char *b)
{
    unsigned char x[16], y[16];
    if (inet_pton(AF_INET6, a, x) == 1 && inet_pton(AF_INET6, b, y) == 1)
        return memcmp(x, y, sizeof x) == 0;
    return strcasecmp(a, b) == 0;
}

static bool is_machine(const char *host)
{
    char name[HOST], local[HOST + 8];
    if (gethostname(name, sizeof name) != 0)
        return false;
    name[HOST - 1] = 0;
    snprintf(local, sizeof local, "%s.local", name);
    return strcasecmp(host, name) == 0 || strcasecmp(host, local) == 0;
}

bool serve_host_is_ours(const char *host, const char *served)
{
    char name[HOST];
    if (!host || !copy_host(host, name))
        return false;
    if (is_same(name, served) || is_same(name, "localhost") || is_same(name, "127.0.0.1") ||
        is_same(name, "::1"))
        return true;
    const bool any = is_same(served, "0.0.0.0") || is_same(served, "::");
    return any && (is_address(name) || is_machine(name));
}

bool serve_origin_is_ours(const char *origin, const char *host)
{
    if (!origin)
        return true;
    const char *slashes = strstr(origin, "://");
    return slashes && host && strcasecmp(slashes + 3, host) == 0;
}
