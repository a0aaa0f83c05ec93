#include "crop_worker.h"

#include <stdlib.h>

#include "media/container/container_quirks.h"
#include "media/container/keyframe_index.h"
#include "media/container/open.h"
#include "media/decode/decoder.h"
#include "media/ffmpeg/libav.h"
#include "media/ffmpeg/frame_view.h"
#include "base/interrupt.h"

/* packets: up to a key frame; from there to the first frame */
enum { KEY_WITHIN = 2000, OUT_WITHIN = 20 };
enum { APART = 12 }; /* packets from one sampled frame after it to the next */

/* Returns how to seek to a place. Most demuxers without an index read everything up to the time. */
static enum way way_of(const struct crop_worker *w)
{
    const struct container_quirks *quirks = container_quirks(w->format);
    const int64_t small = 64 << 20;
    if (!container_is_seekable(w->format))
        return NO_WAY;
    if (quirks->seeks_to_any_byte)
        return BY_BYTE;
    bool indexed = key_index_kind(w->format, w->samples->film) != KEY_INDEX_NONE;
    return indexed || quirks->seeks_by_bisection || avio_size(w->format->pb) <= small ? BY_TIME
                                                                                      : NO_WAY;
}

/* Returns the first picture's stored time in microseconds. */
static int64_t start_us(const AVStream *s)
{
    return s->start_time != AV_NOPTS_VALUE
               ? av_rescale_q(s->start_time, s->time_base, AV_TIME_BASE_Q)
               : 0;
}

/*
 * Seeks to place `place` of CROP_SAMPLES, the middle of its part of the film. FFmpeg's concat
 * demuxer crashes if it seeks after a part could not be opened.
 */
static bool seek_place(struct crop_worker *w, int place)
{
    if (w->samples->film->unopened[0] || w->logged.unopened[0])
        return false;
    const int64_t part = (int64_t)place * 2 + 1, parts = (int64_t)CROP_SAMPLES * 2;
    int64_t duration_us = w->samples->film->length.duration_us;
    if (w->way == BY_BYTE) {
        int64_t at = av_rescale(avio_size(w->format->pb), part, parts);
        return av_seek_frame(w->format, -1, at, AVSEEK_FLAG_BYTE) >= 0;
    }
    if (duration_us <= 0)
        return false;
    int64_t time = av_sat_add64(start_us(w->stream), av_rescale(duration_us, part, parts));
    int64_t stamp = av_rescale_q(time, AV_TIME_BASE_Q, w->stream->time_base);
    return av_seek_frame(w->format, w->stream->index, stamp, AVSEEK_FLAG_BACKWARD) >= 0;
}

/*
 * Reads the next packet of the video stream; with `key` that of the next key frame. Returns false
 * if none is near.
 */
static bool next_packet(struct crop_worker *w, bool key)
{
    for (int i = 0; i < KEY_WITHIN && !interrupted(); i++) {
        if (av_read_frame(w->format, w->packet) < 0)
            return false;
        bool ours = w->packet->stream_index == w->stream->index && w->packet->size > 0;
        bool fits = !key || w->packet->flags & AV_PKT_FLAG_KEY;
        bool kept = !ours || side_data_keep(&w->side, w->packet, key && fits, &w->error);
        if (ours && fits && kept)
            return true;
        av_packet_unref(w->packet);
        if (!kept)
            return false;
    }
    return false;
}

static void sample_frame(struct crop_worker *w, size_t index)
{
    struct frame_view view;
    bool whole = w->frame->width == w->samples->film->coded_width &&
                 w->frame->height == w->samples->film->coded_height;
    if (!whole || corruption_is_flagged(w->frame) ||
        !view_of_frame(w->frame, w->samples->film, &w->planes, &view, &w->error))
        return;
    w->samples->sample[index].seen = crop_sample_frame(&view, w->room);
    w->samples->sample[index].done = true;
}

/*
 * Sends a packet, or NULL to drain. Returns true if a frame was output. The frame is sampled if it
 * is intact. The missing parts of a damaged frame show earlier memory, which depends on this
 * thread's samples.
 */
static bool decode_packet(struct crop_worker *w, const AVPacket *packet, size_t index)
{
    int code = decoder_send(w->decoder, packet);
    w->corrupt |= damage_found(&w->watch, code);
    if (code >= 0)
        code = decoder_receive(w->decoder, w->frame);
    if (code == AVERROR(ENOMEM))
        av_out_of_memory(w->samples->film->path, &w->error);
    if (code < 0)
        return false;
    if (!w->corrupt)
        sample_frame(w, index);
    av_frame_unref(w->frame);
    return true;
}

/*
 * Samples the key frame that was read, and drains the decoder so that no further packets are
 * needed. Returns false if no frame was output, or if the frame is interlaced and may lack a field.
 */
static bool sample_key_alone(struct crop_worker *w, size_t index)
{
    int code = decoder_send(w->decoder, w->packet);
    w->corrupt = damage_found(&w->watch, code);
    if (code >= 0)
        code = decoder_send(w->decoder, NULL);
    if (code >= 0)
        code = decoder_receive(w->decoder, w->frame);
    if (code == AVERROR(ENOMEM))
        av_out_of_memory(w->samples->film->path, &w->error);
    bool whole = code >= 0 && !w->corrupt && !av_compat_is_interlaced(w->frame);
    if (whole)
        sample_frame(w, index);
    if (w->error.code == ERR_NONE)
        avcodec_flush_buffers(w->decoder); /*
                                            * further packets are sent if the frame was incomplete
                                            */
    av_frame_unref(w->frame);
    return whole || w->error.code != ERR_NONE;
}

/*
 * Opens a new decoder for each sample. A flush keeps the headers of earlier samples, and the result
 * would depend on which samples this thread took.
 */
static bool open_decoder(struct crop_worker *w)
{
    w->fresh = true;
    decoder_close(&w->decoder);
    w->watch = (struct corruption_watch){0};
    w->decoder = decoder_open(w->stream, w->samples->film->path, 1, &w->error);
    if (w->decoder)
        corruption_watch_open(&w->watch, w->decoder);
    return w->decoder != NULL;
}

/* Claims the key frame at `at` for a sample. Returns false if another sample has it. */
static bool claim_key(struct crop_worker *w, size_t index, int64_t at)
{
    bool first = true;
    pthread_mutex_lock(&w->samples->lock);
    for (int i = 0; i < CROP_SAMPLES; i++)
        first &= !w->samples->sample[i].claimed || w->samples->sample[i].key != at;
    w->samples->sample[index].claimed = true;
    w->samples->sample[index].key = at;
    pthread_mutex_unlock(&w->samples->lock);
    return first;
}

/*
 * Samples the first frame from a place's key frame on. The packets after it are only sent so that
 * the decoder outputs it. Most places lead to a key frame that another sample has claimed.
 */
static void sample_place(struct crop_worker *w, int place)
{
    size_t index = (size_t)place;
    if (!seek_place(w, place) || !next_packet(w, true))
        return;
    int64_t key = w->packet->pos >= 0 ? w->packet->pos : w->packet->pts;
    bool mine = claim_key(w, index, key) && (w->fresh || open_decoder(w));
    w->fresh = w->fresh && !mine;
    if (!mine || (w->alone && sample_key_alone(w, index))) {
        av_packet_unref(w->packet);
        return;
    }
    bool came = false, more = true;
    w->corrupt = false;
    for (int i = 0; i < OUT_WITHIN && more && !came && w->error.code == ERR_NONE; i++) {
        came = decode_packet(w, w->packet, index);
        av_packet_unref(w->packet);
        more = !came && next_packet(w, false);
    }
    av_packet_unref(w->packet);
    /* A decoder that ran out of memory is not used again: libavcodec 59 crashes. */
    if (!came && w->error.code == ERR_NONE)
        decode_packet(w, NULL, index);
}

bool crop_sample_is_conclusive(const struct crop_seen *seen)
{
    return seen->across.known || seen->down.known;
}

/*
 * Returns true if more frames are needed: fewer than CROP_SAMPLES_ENOUGH are conclusive so far, and
 * those that may still be sampled could make a rectangle.
 */
static bool needs_more(const struct crop_worker *w)
{
    int conclusive = 0, suggested = 0, done = 0;
    for (int i = 0; i < CROP_SAMPLES + CROP_SAMPLES_MORE; i++) {
        const struct crop_sample *sample = &w->samples->sample[i];
        conclusive += sample->done && crop_sample_is_conclusive(&sample->seen);
        suggested += sample->done && crop_suggests(&sample->seen);
        done += i >= CROP_SAMPLES && sample->done;
    }
    int left = CROP_SAMPLES_MORE - done, needed = CROP_SAMPLES_ENOUGH - conclusive;
    int more = left < needed ? left : needed;
    return more > 0 && suggested + more >= CROP_QUORUM;
}

/*
 * Receives the frames that are ready, and samples one each APART packets. Returns false if no more
 * frames are needed or left.
 */
static bool take_ready(struct crop_worker *w, int64_t *due, size_t *index)
{
    int code;
    while ((code = decoder_receive(w->decoder, w->frame)) >= 0) {
        if (w->frame->pts >= *due && *index < CROP_SAMPLES + CROP_SAMPLES_MORE) {
            *due = w->frame->pts + APART;
            sample_frame(w, (*index)++);
        }
        av_frame_unref(w->frame);
        if (w->error.code != ERR_NONE || !needs_more(w))
            return false;
    }
    if (code == AVERROR(ENOMEM))
        av_out_of_memory(w->samples->film->path, &w->error);
    return code == AVERROR(EAGAIN);
}

/*
 * Returns which frames the decoder may skip. Non-reference HEVC pictures of a lower layer may be
 * referred to by a higher layer: hvcC has the number of layers.
 */
static enum AVDiscard passes_over(const AVCodecParameters *par)
{
    enum { LAYERS = 21, HVCC = 23 };
    const uint8_t *data = par->extradata;
    bool one = par->codec_id != AV_CODEC_ID_HEVC || (data && par->extradata_size >= HVCC &&
                                                     data[0] == 1 && (data[LAYERS] >> 3 & 7) == 1);
    return one ? AVDISCARD_NONREF : AVDISCARD_DEFAULT;
}

void crop_worker_sample_more(struct crop_worker *w)
{
    enum { SENT_MOST = CROP_SAMPLES_MORE * APART + 32 };
    int64_t sent = 0, due = APART - 1;
    size_t index = CROP_SAMPLES;
    side_data_free(&w->side);
    if (!needs_more(w) || !open_decoder(w) || !seek_place(w, 0) || !next_packet(w, true))
        return;
    decoder_widen_delay(w->decoder);
    w->decoder->skip_frame = passes_over(w->stream->codecpar);
    bool more, there = true;
    do {
        w->packet->pts = sent++;
        int code = decoder_send(w->decoder, there ? w->packet : NULL);
        av_packet_unref(w->packet);
        if (code == AVERROR(ENOMEM))
            av_out_of_memory(w->samples->film->path, &w->error);
        more = code != AVERROR(ENOMEM) && take_ready(w, &due, &index) && there;
        there = more && sent < SENT_MOST && next_packet(w, false);
    } while (more);
}

static bool open_film(struct crop_worker *w)
{
    const AVFormatContext *opened = w->samples->opened;
    w->alone = opened && container_is_seekable(opened) &&
               container_quirks(opened)->has_complete_header &&
               container_open_again(w->samples->film, opened, &w->format, &w->error);
    if (w->alone)
        return true;
    container_close(&w->format); /* the header does not describe the stream: probe the file again */
    err_clear(&w->error);
    return container_reopen(w->samples->film, w->samples->requested, &w->format, &w->error);
}

static bool open_worker(struct crop_worker *w)
{
    const struct film *film = w->samples->film;
    if (!open_film(w))
        return false;
    w->stream = w->format->streams[film->stream];
    w->way = way_of(w);
    w->packet = av_packet_alloc();
    w->frame = av_frame_alloc();
    w->room = malloc(((size_t)film->coded_width + (size_t)film->coded_height) * sizeof *w->room);
    if (!w->packet || !w->frame || !w->room)
        return err_set(&w->error, ERR_MEMORY, "out of memory for crop detection");
    return open_decoder(w);
}

void crop_worker_close(struct crop_worker *w)
{
    decoder_close(&w->decoder);
    av_frame_free(&w->frame);
    av_frame_free(&w->planes);
    av_packet_free(&w->packet);
    side_data_free(&w->side);
    container_close(&w->format);
    free(w->room);
    w->room = NULL;
}

void *crop_worker_main(void *argument)
{
    struct crop_worker *w = argument;
    int place;
    struct av_log_counts *before = av_log_listen(&w->logged);
    bool opened = open_worker(w) && w->way != NO_WAY;
    while (opened && w->error.code == ERR_NONE && !interrupted() &&
           (place = atomic_fetch_add(&w->samples->next, 1)) < CROP_SAMPLES)
        sample_place(w, place);
    av_log_listen(before);
    return NULL;
}
