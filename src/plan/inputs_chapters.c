#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/path.h"
#include "inputs_list.h"

/*
 * Names of chapters: # stands for a digit of the recording's number, N for one of the chapter's.
 * Letters match in both cases.
 */
static const struct scheme {
    const char *first, *next; /* the name of the first chapter, and those of the following ones */
    int number;               /* that of the first chapter */
} scheme[] = {{"GOPR####.MP4", "GPNN####.MP4", 0},
              {"GHNN####.MP4", "GHNN####.MP4", 1},
              {"GXNN####.MP4", "GXNN####.MP4", 1},
              {"VTS_##_N.VOB", "VTS_##_N.VOB", 1}};

/* Returns the chapter's number if the name matches, or -1. */
static int match(const char *form, const char *name)
{
    int number = 0;
    for (; *form && *name; form++, name++) {
        bool digit = isdigit((unsigned char)*name);
        if (*form == 'N' && digit)
            number = number * 10 + *name - '0';
        else if (!(*form == '#' ? digit : toupper((unsigned char)*name) == *form))
            return -1;
    }
    return *form || *name ? -1 : number;
}

/*
 * Writes into `path` the name of chapter `n` of the recording that `name` belongs to: the end of
 * `path` that is as long as the name.
 */
static void put_chapter(const struct scheme *s, const char *name, int n, char *path)
{
    const char *form = n == s->number ? s->first : s->next;
    size_t length = strlen(form);
    char *to = path + strlen(path) - length;
    bool small = islower((unsigned char)name[0]);
    char digits[16];
    snprintf(digits, sizeof digits, strstr(form, "NN") ? "%02d" : "%d", n);
    const char *digit = digits;
    for (size_t i = 0; i < length; i++) {
        bool kept = strchr("#.", form[i]) || i + 4 > length;
        if (kept)
            to[i] = name[i];
        else if (form[i] == 'N' && digit[0])
            to[i] = *digit++;
        else
            to[i] = small ? (char)tolower((unsigned char)form[i]) : form[i];
    }
}

static const struct scheme *find_scheme(const char *name, int *number)
{
    for (size_t i = 0; i < sizeof scheme / sizeof *scheme; i++) {
        const struct scheme *s = &scheme[i];
        *number = match(s->next, name);
        if (s->next != s->first && match(s->first, name) == 0)
            *number = s->number;
        if (*number >= s->number)
            return s;
    }
    return NULL;
}

bool inputs_chapters(const char *path, struct film_parts **parts, size_t *place, struct err *e)
{
    enum { CHAPTERS_MOST = 99 };
    size_t length;
    int number = 0, last = -1;
    const char *name = path_last(path, &length);
    const struct scheme *s = name[length] ? NULL : find_scheme(name, &number);
    *parts = NULL;
    *place = 0;
    char *other = s ? strdup(path) : NULL;
    if (!other)
        return !s || err_memory(e, strlen(path) + 1);
    int most = strstr(s->next, "NN") ? CHAPTERS_MOST : 9;
    size_t there = 0;
    for (int n = s->number; n <= most; n++) {
        put_chapter(s, name, n, other);
        if (!file_is_regular(other))
            continue;
        there++;
        *place += n < number;
        last = n;
    }
    bool ok = true;
    if (there > 0 && (there > 1 || last > s->number)) {
        ok = (*parts = err_calloc(1, sizeof **parts, e)) != NULL;
        for (int n = s->number; n <= last && ok; n++) {
            put_chapter(s, name, n, other);
            ok = film_parts_add(*parts, &(struct film_part){.path = other}, e);
        }
    }
    if (!ok)
        film_parts_free(parts);
    free(other);
    return ok;
}
