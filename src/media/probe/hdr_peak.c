/*
 * hdr_peak.c - finds the peak brightness of a film (light.h) in its first frame, if the container
 * has none.
 *
 * HDR10's metadata are those of CTA-861.3, in the container or in SEI messages of the bitstream,
 * which libavformat does not read. x265 writes them before each key frame; MPEG-TS has no other.
 */
#include "hdr_peak.h"

#include <libavutil/mastering_display_metadata.h>

#include "media/container/hdr_metadata.h"
#include "media/container/open.h"
#include "media/decode/decoder.h"
#include "base/interrupt.h"

static int peak_of_frame(const AVFrame *frame)
{
    const AVFrameSideData *content =
        av_frame_get_side_data(frame, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL);
    const AVFrameSideData *display =
        av_frame_get_side_data(frame, AV_FRAME_DATA_MASTERING_DISPLAY_METADATA);
    return film_light_peak(content ? (const void *)content->data : NULL,
                           display ? (const void *)display->data : NULL);
}

/*
 * Reads the peak of the first frame that is decoded from the first key frame on, among the first
 * `PACKETS` packets. The metadata come with key frames. What precedes the first one, seconds of a
 * recording, may still decode to something.
 */
static void find_peak(AVFormatContext *format, int stream, AVCodecContext *decoder,
                      AVPacket *packet, AVFrame *frame, int *peak)
{
    enum { PACKETS = 1000 };
    bool came = false, more = true, key = false;
    for (int i = 0; i < PACKETS && more && !came && !interrupted(); i++) {
        more = av_read_frame(format, packet) >= 0;
        bool ours = more && packet->stream_index == stream && packet->size > 0;
        key |= ours && packet->flags & AV_PKT_FLAG_KEY;
        if (ours && key)
            came = decoder_send(decoder, packet) >= 0 && decoder_receive(decoder, frame) >= 0;
        av_packet_unref(packet);
    }
    if (!came && decoder_send(decoder, NULL) >= 0)
        came = decoder_receive(decoder, frame) >= 0;
    if (came)
        *peak = peak_of_frame(frame);
    av_frame_unref(frame);
}

/*
 * Returns true if the error must be reported. A film that cannot be read fails when it is decoded,
 * with a better message.
 */
static bool is_grave(struct err *e)
{
    if (e->code == ERR_FAILED || e->code == ERR_MEMORY || e->code == ERR_INTERRUPTED)
        return true;
    err_clear(e);
    return false;
}

bool film_light_probe(const struct film *film, int requested, struct probe_facts *facts,
                      struct err *e)
{
    AVFormatContext *format = NULL;
    struct corruption_watch watch = {0};
    AVCodecContext *decoder = NULL;
    AVPacket *packet = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    bool ok = packet && frame ? container_reopen(film, requested, &format, e)
                              : err_set(e, ERR_MEMORY, "out of memory to probe '%s'", film->path);
    decoder = ok && format ? decoder_open(format->streams[film->stream], film->path, 1, e) : NULL;
    ok = decoder != NULL;
    if (ok)
        corruption_watch_open(&watch, decoder);
    if (ok)
        find_peak(format, film->stream, decoder, packet, frame, &facts->peak);
    decoder_close(&decoder);
    av_frame_free(&frame);
    av_packet_free(&packet);
    container_close(&format);
    if (ok && interrupted())
        ok = interrupt_error(e);
    facts->found |= ok ? PROBE_LIGHT : 0;
    return ok || !is_grave(e);
}
