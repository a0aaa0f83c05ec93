#include "cache_options.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"

#define OPTION_STRUCT struct cache_options

uint64_t cache_limit_default(uint64_t free_bytes, uint64_t cache_bytes)
{
    const uint64_t most = UINT64_C(10) << 30;
    uint64_t tenth = free_bytes / 10 + cache_bytes / 10;
    return tenth < most ? tenth : most;
}

static bool set_folder(void *options, const struct option_row *row, const char *arg, struct err *e)
{
    struct cache_options *o = options;
    if (!*arg)
        return err_set(e, ERR_USAGE, "--%s: the name is empty", row->name);
    o->folder = arg;
    return true;
}

static bool set_limit(void *options, const struct option_row *row, const char *arg, struct err *e)
{
    struct cache_options *o = options;
    if (!option_read_bytes(arg, &o->limit))
        return err_set(e, ERR_USAGE, "--%s: '%s' is not a size such as 500M or 20G", row->name,
                       arg);
    return true;
}

static const struct option_row rows[] = {
    {"cache", "DIR", "cache folder, - for none (~/.cache/barcode)", .group = OPTION_CACHE,
     OPTION_CUSTOM(set_folder)},
    {"no-cache", NULL, "do not read or write the cache", .group = OPTION_CACHE, OPTION_FLAG(off)},
    {"refresh", NULL, "decode again and replace the cached frames", .group = OPTION_EXPERTS,
     OPTION_FLAG(refresh)},
    {"cache-limit", "SIZE", "limit of the cache (10G, less on a full disk)", .group = OPTION_CACHE,
     OPTION_CUSTOM(set_limit)},
    {"cache-stats", NULL, "list the cache; takes no FILM", .group = OPTION_CACHE,
     OPTION_FLAG(stats)},
    {"cache-verify", NULL, "remove damaged entries; takes no FILM", .group = OPTION_CACHE,
     OPTION_FLAG(verify)},
    {"cache-clear", NULL, "empty the cache; takes no FILM", .group = OPTION_CACHE,
     OPTION_FLAG(clear)},
    {0}};

const struct cache_options cache_options_default = {.limit = CACHE_LIMIT_AUTO};

const struct option_table cache_options = {rows, &cache_options_default,
                                           sizeof cache_options_default};

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
