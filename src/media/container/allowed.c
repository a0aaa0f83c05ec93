#include "allowed.h"

#include <errno.h>
#include <libavutil/avstring.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "container_quirks.h"
#include "pipe_input.h"
#include "playlists.h"

static char *names; /* NULL if out of memory */

static void list_names(void)
{
    size_t size = 0;
    void *next = NULL;
    FILE *f = open_memstream(&names, &size);
    for (const AVInputFormat *d; f && (d = av_demuxer_iterate(&next));) {
        const struct container_quirks *quirks = container_quirks_of(d);
        /* AVFMT_NOFILE: it opens what it reads by itself, such as a device */
        if (!quirks->is_playlist && !quirks->names_sources && !(d->flags & AVFMT_NOFILE))
            fprintf(f, "%s%s", ftell(f) > 0 ? "," : "", d->name);
    }
    if (f && fclose(f) != 0) {
        free(names);
        names = NULL;
    }
}

const char *allowed_names(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, list_names);
    return names ? names : "none";
}

int allowed_demuxers(AVFormatContext *format, const char *more)
{
    char *all = av_asprintf("%s%s%s", allowed_names(), *more ? "," : "", more);
    int code = all ? av_opt_set(format, "format_whitelist", all, 0) : AVERROR(ENOMEM);
    av_free(all);
    return code;
}

/* Returns why a film cannot be opened by its name. */
static int refusal_errno(const char *path)
{
    struct stat s;
    if (stat(path, &s) != 0)
        return errno;
    return S_ISDIR(s.st_mode) ? EISDIR : EPERM;
}

int allowed_open(AVFormatContext *format, AVIOContext **file, const char *url, int flags,
                 AVDictionary **options)
{
    (void)options;
    const char *name = url;
    av_strstart(url, "file:", &name);
    bool list = format->iformat && container_quirks(format)->is_playlist && format->pb;
    if (!list || flags & AVIO_FLAG_WRITE)
        return AVERROR(strcmp(url, format->url) == 0 ? refusal_errno(name) : EPERM);
    char *found = playlists_file(format->url, url);
    int error = film_input_open_beside(format->pb, found, name, file);
    free(found);
    return AVERROR(error);
}

int allowed_close(AVFormatContext *format, AVIOContext *file)
{
    (void)format;
    film_input_close(&file);
    return 0;
}
