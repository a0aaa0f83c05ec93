#include "path.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Returns the separator between the first `length` bytes of `folder` and `name`: "/" or "". */
static const char *slash_between(const char *folder, size_t length, const char *name)
{
    return length == 0 || !*name || folder[length - 1] == '/' ? "" : "/";
}

static char *put_together(const char *folder, size_t length, const char *name, const char *end,
                          struct err *e)
{
    char *path;
    if (asprintf(&path, "%.*s%s%s%s", (int)length, folder, slash_between(folder, length, name),
                 name, end) >= 0)
        return path;
    err_memory(e, length + strlen(name) + strlen(end) + 2);
    return NULL;
}

char *path_join(const char *folder, const char *name, const char *end, struct err *e)
{
    return put_together(folder, strlen(folder), name, end, e);
}

bool path_fill(char *path, size_t room, const char *folder, const char *name)
{
    int n =
        snprintf(path, room, "%s%s%s", folder, slash_between(folder, strlen(folder), name), name);
    return n >= 0 && (size_t)n < room;
}

char *path_beside(const char *path, const char *name, struct err *e)
{
    const char *slash = strrchr(path, '/');
    return put_together(path, slash ? (size_t)(slash + 1 - path) : 0, name, "", e);
}

const char *path_last(const char *path, size_t *length)
{
    size_t end = strlen(path);
    while (end > 0 && path[end - 1] == '/')
        end--;
    size_t begin = end;
    while (begin > 0 && path[begin - 1] != '/')
        begin--;
    *length = end - begin;
    return path + begin;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Compares two numbers of any length by value and moves both pointers behind them. */
static int by_value(const char **a, const char **b)
{
    *a += strspn(*a, "0");
    *b += strspn(*b, "0");
    size_t na = strspn(*a, "0123456789"), nb = strspn(*b, "0123456789");
    int order = (na > nb) - (na < nb);
    if (order == 0)
        order = memcmp(*a, *b, na);
    *a += na;
    *b += nb;
    return order;
}

size_t path_url_byte(char byte, char text[4])
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    bool stays = byte && strchr(plain, byte);
    return (size_t)snprintf(text, 4, stays ? "%c" : "%%%02X", (unsigned char)byte);
}

int path_order(const char *a, const char *b)
{
    const char *x = a, *y = b;
    while (*x && *y) {
        int order;
        if (is_digit(*x) && is_digit(*y))
            order = by_value(&x, &y);
        else
            order = (unsigned char)*x++ - (unsigned char)*y++;
        if (order != 0)
            return order;
    }
    if (*x || *y)
        return *x ? 1 : -1;
    return strcmp(a, b); /* equal by value only: "e01" and "e1" */
}

int path_make_folders(char *path, mode_t mode)
{
    int made = 0, code = 0;
    char *end = path;
    while (*path && end) {
        end = strchr(end + 1, '/'); /* behind the folder's name; NULL: the last one */
        if (end)
            *end = 0;
        bool is_new = mkdir(path, mode) == 0;
        code = is_new || errno == EEXIST ? 0 : errno;
        made += is_new;
        if (end)
            *end = '/';
    }
    errno = code;
    return made;
}
