#include "read_ahead.h"

#include <libavutil/mem.h>

#include "media/ffmpeg/av_log.h"

/* What a call of av_read_frame gave. */
struct result {
    AVPacket *packet; /* NULL if `code` is an error */
    int code;
    struct av_log_counts logged;
};

/* The opaque pointer of an AVFormatContext; NULL: nothing was read ahead. */
struct read_ahead {
    struct result *result;
    size_t count, taken;
};

void container_drop_ahead(AVFormatContext *format)
{
    struct read_ahead *a = format->opaque;
    for (size_t i = 0; a && i < a->count; i++)
        av_packet_free(&a->result[i].packet);
    if (a)
        av_freep(&a->result);
    av_freep(&format->opaque);
}

/* Returns a new result, or NULL if out of memory. */
static struct result *add_result(AVFormatContext *format)
{
    struct read_ahead *a = format->opaque;
    if (!a)
        format->opaque = a = av_mallocz(sizeof *a);
    struct result *more = a ? av_realloc_array(a->result, a->count + 1, sizeof *a->result) : NULL;
    if (!more)
        return NULL;
    a->result = more;
    a->result[a->count] = (struct result){.packet = av_packet_alloc()};
    return a->result[a->count].packet ? &a->result[a->count++] : NULL;
}

bool container_read_ahead(AVFormatContext *format, const AVPacket **packet)
{
    struct result *r = add_result(format);
    *packet = NULL;
    if (!r)
        return false;
    struct av_log_counts *before = av_log_listen(&r->logged);
    r->code = av_read_frame(format, r->packet);
    av_log_listen(before);
    if (r->code < 0)
        av_packet_free(&r->packet);
    *packet = r->packet;
    return r->code != AVERROR(ENOMEM);
}

int container_read(AVFormatContext *format, AVPacket *packet)
{
    struct read_ahead *a = format->opaque;
    if (!a)
        return av_read_frame(format, packet);
    struct result *r = &a->result[a->taken++];
    int code = r->code;
    av_log_add(&r->logged);
    if (r->packet)
        av_packet_move_ref(packet, r->packet);
    if (a->taken == a->count)
        container_drop_ahead(format);
    return code;
}

int container_seek(AVFormatContext *format, int stream, int64_t time, int flags)
{
    container_drop_ahead(format);
    return av_seek_frame(format, stream, time, flags);
}
