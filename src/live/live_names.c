#include "live_names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "barcode/base/path.h"

void live_label(const char *name, char label[LIVE_NAME]) { stream_name_show(name, label); }

void live_stem(const char *name, char stem[LIVE_NAME])
{
    char label[LIVE_NAME];
    size_t length = 0, used = 0;
    live_label(strcmp(name, "-") == 0 ? "stdin" : name, label);
    const char *at = strstr(label, "://");
    if (at)
        at += 3, length = strlen(at);
    else
        at = path_last(label, &length);
    for (; length > 0; length--, at++) {
        bool plain = isalnum((unsigned char)*at) || strchr("._-", *at);
        if (plain && (used > 0 || *at != '.'))
            stem[used++] = *at;
        else if (used > 0 && stem[used - 1] != '-')
            stem[used++] = '-';
    }
    while (used > 0 && stem[used - 1] == '-')
        used--;
    stem[used] = 0;
    if (used == 0)
        snprintf(stem, LIVE_NAME, "live");
}
