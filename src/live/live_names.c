#include "live_names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "barcode/base/path.h"

void live_stem(const char *name, char stem[STREAM_NAME])
{
    char label[STREAM_NAME];
    size_t length = 0, used = 0;
    stream_name_show(strcmp(name, "-") == 0 ? "stdin" : name, label);
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
        snprintf(stem, STREAM_NAME, "live");
}
