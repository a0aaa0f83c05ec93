/*
 * av_log.c - libav's messages: one callback for the process, which sorts them by thread and by
 * decoder.
 */
#include "libav.h"

#include <libavformat/avio.h>
#include <libavutil/avstring.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/log.h"
#include "stream_name.h"

/* Where messages of this thread's demuxers are counted; NULL: nowhere. */
static _Thread_local struct av_log_counts *listener;

/* NULL: messages of decoders are ignored. */
static _Atomic(av_log_codec_hook *) codec_hook;

void av_log_set_codec_hook(av_log_codec_hook *hook) { atomic_store(&codec_hook, hook); }

struct av_log_counts *av_log_listen(struct av_log_counts *logged)
{
    struct av_log_counts *before = listener;
    listener = logged;
    return before;
}

static void set_unopened(const char *name)
{
    if (!listener->unopened[0])
        snprintf(listener->unopened, sizeof listener->unopened, "%s", name);
}

static void keep_read_error(int error)
{
    if (listener->read_error == 0)
        listener->read_error = error;
}

void av_log_add(const struct av_log_counts *more)
{
    if (!listener)
        return;
    listener->errors += more->errors;
    listener->jumps += more->jumps;
    listener->searches += more->searches;
    listener->openings += more->openings;
    keep_read_error(more->read_error);
    set_unopened(more->unopened);
    listener->many_streams |= more->many_streams;
}

/*
 * Finds out whether a file could be read that libavformat opened and now closes. The demuxer of a
 * list takes a failed read for the end of a part. AVIOContext.error has an error of FFmpeg's own
 * for network streams.
 */
static void check_closing(const AVIOContext *file, const char *format)
{
    const int errno_end = 4096; /* errors of FFmpeg's own are below its negative */
    if (av_strstart(format, "Statistics: ", NULL) && !file->write_flag && file->error < 0 &&
        file->error > -errno_end)
        keep_read_error(AVUNERROR(file->error));
}

/* Counts a message. MPEG-TS's and NUT's about searching are below the level of errors. */
static void count_demuxer_message(void *context, int level, const char *format, va_list args)
{
    /* the index after the last packet of a streamed ASF is read as a packet */
    bool index = av_strstart(format, "ff asf skip ", NULL);
    /* Ogg's first packets may have times before 0, for instance after a cut */
    bool early = av_strstart(format, "invalid pts %", NULL);
    listener->errors += level <= AV_LOG_ERROR && !index && !early;
    listener->openings += av_strstart(format, "Format %s probed with ", NULL);
    listener->many_streams |= av_strstart(format, "Number of streams exceeds max_streams", NULL);
    listener->jumps += av_strstart(format, "Continuity check failed", NULL);
    listener->searches +=
        av_strstart(format, "Probe: %d, score", NULL) || av_strstart(format, "syncing from ", NULL);
    if (av_strstart(format, "Impossible to open '%s'", NULL) ||
        av_strstart(format, "Unsafe file name '%s'", NULL)) {
        const char *name = va_arg(args, const char *);
        av_strstart(name, "file:", &name);
        set_unopened(name);
    }
    if (av_strstart(format, "Format not on whitelist", NULL) &&
        *(const AVClass **)context == avformat_get_class())
        listener->unlisted = ((const AVFormatContext *)context)->iformat;
}

/* Records the size of frames that libavutil refuses. The stream's dimensions become unknown. */
static void keep_refused_size(const char *format, va_list args)
{
    if (av_strstart(format, "Picture size %ux%u ", NULL)) {
        listener->wide = va_arg(args, unsigned);
        listener->high = va_arg(args, unsigned);
    }
}

/* The callback. libav's own messages concern packets and tables: shown with -vv only. */
static void on_av_log(void *context, int level, const char *format, va_list args)
{
    const AVClass *class = context ? *(const AVClass **)context : NULL;
    av_log_codec_hook *hook = atomic_load(&codec_hook);
    if (hook && class && class == avcodec_get_class())
        hook(context, level, format);
    AVClassCategory category = AV_CLASS_CATEGORY_NA;
    if (class)
        category = class->get_category ? class->get_category(context) : class->category;
    if (listener) {
        va_list copy;
        va_copy(copy, args);
        if (category == AV_CLASS_CATEGORY_DEMUXER)
            count_demuxer_message(context, level, format, copy);
        else
            keep_refused_size(format, copy);
        va_end(copy);
    }
    if (listener && class && strcmp(class->class_name, "AVIOContext") == 0)
        check_closing(context, format);
    if (level > AV_LOG_ERROR || !log_enabled(LOG_DEBUG))
        return;
    char line[2048];
    int prefix = 1;
    int length = av_log_format_line2(context, level, format, args, line, sizeof line, &prefix);
    /* what was cut off might be the end of a secret */
    if (length < 0 || (size_t)length >= sizeof line)
        snprintf(line, sizeof line, "a message of %d bytes", length);
    line[strcspn(line, "\n")] = 0;
    stream_name_hide(line, sizeof line);
    log_msg(LOG_DEBUG, "libav: %s", line);
}

static void set_callback(void) { av_log_set_callback(on_av_log); }

void av_log_install(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_callback);
}
