#include "barcode/base/err.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_uint_fast64_t memory_count;

void err_memory_seen(void) { atomic_fetch_add(&memory_count, 1); }

void err_forgive(struct err *e)
{
    if (e->code == ERR_MEMORY)
        atomic_fetch_sub(&memory_count, 1);
    err_clear(e);
}

uint64_t err_memory_count(void) { return atomic_load(&memory_count); }

bool err_is_code(uint32_t code)
{
    return code <= ERR_ENGINE || code == ERR_INTERRUPTED || code == ERR_MEMORY;
}

bool err_set_at(struct err *e, enum err_code code, const char *file, int line, const char *format,
                ...)
{
    if (code == ERR_MEMORY)
        err_memory_seen();
    if (!e || e->code != ERR_NONE)
        return false;
    e->code = code;
    e->file = file;
    e->line = line;
    va_list args;
    va_start(args, format);
    vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    return false;
}

bool err_prefix(struct err *e, const char *format, ...)
{
    if (!e)
        return false;
    char text[sizeof e->text] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t used = strlen(text), room = sizeof text - used;
    snprintf(text + used, room, ": %.*s", (int)room, e->text);
    memcpy(e->text, text, sizeof text);
    return false;
}

bool err_memory(struct err *e, size_t bytes)
{
    return err_set(e, ERR_MEMORY, "out of memory: %zu bytes requested", bytes);
}

void *err_calloc(size_t count, size_t size, struct err *e)
{
    void *memory = calloc(count, size);
    if (!memory)
        err_memory(e, count * size);
    return memory;
}

bool err_reserve(void *array, size_t count, size_t *room, size_t size, struct err *e)
{
    const size_t least = 64;
    void *grown;
    if (count <= *room)
        return true;
    size_t more = 2 * *room > least ? 2 * *room : least;
    if (more < count)
        more = count;
    memcpy(&grown, array, sizeof grown);
    grown = reallocarray(grown, more, size);
    if (!grown) {
        if (e) /* otherwise the failure does not count */
            err_memory(e, more * size);
        return false;
    }
    memcpy(array, &grown, sizeof grown);
    *room = more;
    return true;
}

void err_clear(struct err *e) { *e = (struct err)ERR_INIT; }

int err_exit_status(const struct err *e)
{
    return e->code == ERR_MEMORY ? ERR_FAILED : (int)e->code;
}
