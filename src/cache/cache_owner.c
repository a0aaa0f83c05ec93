#include "cache_owner.h"

#include <stdlib.h>
#include <unistd.h>

static bool is_own(const struct stat *st) { return st->st_uid == geteuid() || st->st_uid == 0; }

/* Returns true if the group of this process or one of its supplementary groups is `group`. */
static bool is_member(gid_t group)
{
    if (getegid() == group)
        return true;
    int count = getgroups(0, NULL);
    gid_t *list = count > 0 ? malloc((size_t)count * sizeof *list) : NULL;
    bool found = false;
    count = list ? getgroups(count, list) : 0;
    for (int i = 0; i < count; i++)
        found |= list[i] == group;
    free(list);
    return found;
}

bool cache_owner_read(struct cache_owner *o, const char *folder, struct err *e)
{
    struct stat link, st;
    *o = (struct cache_owner){.shared = false};
    if (lstat(folder, &link) != 0 || stat(folder, &st) != 0)
        return true; /* whoever makes it will see whose it is */
    o->group = st.st_gid;
    o->shared = S_ISDIR(st.st_mode) && st.st_mode & S_ISGID && !(st.st_mode & S_IWOTH);
    bool ok = is_own(&st) || (o->shared && is_member(o->group));
    /* Who may change the link can lead it to any folder. */
    ok = ok && (!S_ISLNK(link.st_mode) || is_own(&link));
    return ok || err_set(e, ERR_FAILED, "another user made it");
}

bool cache_owner_trusts(const struct cache_owner *o, const struct stat *file)
{
    return is_own(file) || (o->shared && file->st_gid == o->group);
}

mode_t cache_owner_mode(const struct cache_owner *o, mode_t group)
{
    return 0600 | (o->shared ? group << 3 : 0);
}
