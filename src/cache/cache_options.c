#include "cache_options.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"

struct cache_options cache_options_default(void)
{
    return (struct cache_options){.limit = CACHE_LIMIT_AUTO};
}

uint64_t cache_limit_default(uint64_t free_bytes, uint64_t cache_bytes)
{
    const uint64_t most = UINT64_C(10) << 30;
    uint64_t tenth = free_bytes / 10 + cache_bytes / 10;
    return tenth < most ? tenth : most;
}

bool cache_options_size(const char *text, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    /* strtod would also accept signs, spaces, "inf" and hexadecimal. */
    size_t digits = strspn(text, "0123456789.");
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (digits == 0 || end != text + digits || errno != 0)
        return false;
    const char *unit = *end ? strchr(units, *end & ~0x20) : NULL;
    if (unit) {
        for (const char *u = units; u <= unit; u++)
            value *= 1024;
        end++;
    }
    if (unit && *end == 'i' && end[1] == 'B')
        end++;
    if (*end == 'B')
        end++;
    if (*end || value < 0 || value > 9e18)
        return false;
    *bytes = (uint64_t)value;
    return true;
}

bool cache_options_set(struct cache_options *o, int option, const char *value, struct err *e)
{
    switch (option) {
    case CACHE_OPTION_FOLDER:
        if (!*value)
            return err_set(e, ERR_USAGE, "--cache: the name is empty");
        o->folder = value;
        return true;
    case CACHE_OPTION_LIMIT:
        return cache_options_size(value, &o->limit) ||
               err_set(e, ERR_USAGE, "--cache-limit: '%s' is not a size such as 500M or 20G",
                       value);
    case CACHE_OPTION_OFF: o->off = true; break;
    case CACHE_OPTION_REFRESH: o->refresh = true; break;
    case CACHE_OPTION_STATS: o->stats = true; break;
    case CACHE_OPTION_VERIFY: o->verify = true; break;
    case CACHE_OPTION_CLEAR: o->clear = true; break;
    default: return err_set(e, ERR_USAGE, "an unknown option");
    }
    return true;
}

bool cache_options_action(const struct cache_options *o)
{
    return o->stats || o->clear || o->verify;
}

/* Returns an environment variable, or NULL if it is empty, or in a set-user-id program. */
static const char *variable(const char *name)
{
    const char *value = secure_getenv(name);
    return value && *value ? value : NULL;
}

bool cache_options_folder(const struct cache_options *o, char *folder, size_t room)
{
    const char *named = o->folder ? o->folder : variable("BARCODE_CACHE");
    if (named)
        return strcmp(named, "-") != 0 && path_fill(folder, room, named, "");
    const char *base = variable("XDG_CACHE_HOME");
    if (base && *base == '/') /* the XDG specification says to ignore relative paths */
        return path_fill(folder, room, base, "barcode");
    const char *home = variable("HOME");
    char text[4096];
    struct passwd entry, *found = NULL;
    if (!home && getpwuid_r(getuid(), &entry, text, sizeof text, &found) == 0 && found)
        home = found->pw_dir;
    return home && *home == '/' && path_fill(folder, room, home, ".cache/barcode");
}
