/*
 * replay_main.c - a main without libFuzzer: feeds every file, and every file of every folder, that
 * is named to the target. Nothing else is needed to run a corpus, or to look at a crash in a
 * debugger.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "fuzz.h"

static bool replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    struct stat s;
    uint8_t *data = NULL; /* of the exact size, so that a sanitizer sees a read behind the end */
    if (f && fstat(fileno(f), &s) == 0)
        data = malloc((size_t)s.st_size);
    const bool ok = data && fread(data, 1, (size_t)s.st_size, f) == (size_t)s.st_size;
    if (ok)
        LLVMFuzzerTestOneInput(data, (size_t)s.st_size);
    else
        fprintf(stderr, "replay: cannot read '%s'\n", path);
    free(data);
    if (f)
        fclose(f);
    return ok;
}

static int no_dots(const struct dirent *entry) { return entry->d_name[0] != '.'; }

/* Returns how many inputs were run, -1 when one could not be read. */
static int replay(const char *path)
{
    struct dirent **entry;
    int n = scandir(path, &entry, no_dots, alphasort), ran = 0;
    if (n < 0)
        return replay_file(path) ? 1 : -1;
    for (int i = 0; i < n; i++) {
        char inside[4096];
        snprintf(inside, sizeof inside, "%s/%s", path, entry[i]->d_name);
        int more = ran < 0 ? -1 : replay(inside);
        ran = more < 0 ? -1 : ran + more;
        free(entry[i]);
    }
    free(entry);
    return ran;
}

int main(int argc, char **argv)
{
    int total = 0;
    for (int i = 1; i < argc; i++) {
        int ran = replay(argv[i]);
        if (ran < 0)
            return 1;
        total += ran;
    }
    fprintf(stderr, "replay: %d inputs\n", total);
    return 0;
}
