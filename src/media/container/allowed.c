#include "allowed.h"

#include <errno.h>
#include <libavutil/avstring.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "container_quirks.h"
#include "barcode/media/playlists.h"

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

int allowed_open(AVFormatContext *format, AVIOContext **file, const char *url, int flags,
                 AVDictionary **options)
{
    if (strcmp(url, format->url) == 0)
        return avio_open2(file, url, flags, &format->interrupt_callback, options);
    bool list = format->iformat && container_quirks(format)->is_playlist;
    errno = EPERM;
    char *found = list && !(flags & AVIO_FLAG_WRITE) ? playlists_file(format->url, url) : NULL;
    if (!found)
        return AVERROR(errno);
    char *name = av_asprintf("file:%s", found);
    int code = name ? avio_open2(file, name, flags, &format->interrupt_callback, options)
                    : AVERROR(ENOMEM);
    av_free(name);
    free(found);
    return code;
}
