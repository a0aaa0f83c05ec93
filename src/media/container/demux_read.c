/* demux_read.c - reads packets, and finds out where some are missing or damaged. */
#include "demux.h"

#include <assert.h>
#include <string.h>

#include "container_quirks.h"
#include "declared_length.h"
#include "open.h"
#include "read_ahead.h"

void demux_select(struct demux *r, int stream)
{
    assert(r->selected_count < DEMUX_STREAMS_MAX);
    r->selected[r->selected_count++] = stream;
    r->format->streams[stream]->discard = AVDISCARD_DEFAULT;
}

static const char *path_of(const struct demux *r) { return strchr(r->format->url, ':') + 1; }

/*
 * Returns true if bytes of a packet could not be read (--keep-going). A parser's packet has bytes
 * up to where reading is now. `before`: where reading was before it.
 */
static bool contains_skipped(const struct demux *r, const AVPacket *packet, int64_t before)
{
    int64_t from = packet->pos >= 0 ? packet->pos : before, to = from + packet->size;
    if (r->quirks->is_playlist) /* its packets have places in other files */
        return false;
    if (r->framed && packet->stream_index != r->stream->index)
        return false;
    if (!r->framed && r->format->pb && avio_tell(r->format->pb) > to)
        to = avio_tell(r->format->pb);
    return from >= 0 && read_faults_meet(r->faults, from, to);
}

/* Calls av_read_frame, and counts the messages that demuxers log meanwhile. */
static int read_packet(struct demux *r, AVPacket *packet)
{
    const struct av_log_counts last = r->logged;
    int64_t at = r->format->pb ? avio_tell(r->format->pb) : -1;
    struct av_log_counts *before = av_log_listen(&r->logged);
    int code = container_read(r->format, packet);
    av_log_listen(before);
    read_faults_hear(r->faults, &r->logged);
    if (code == AVERROR(ENOMEM))
        err_memory_seen();
    /*
     * The demuxer searches an MPEG-TS with packets of 192 bytes, or one cut at any byte, before its
     * first picture: nothing is missing there. A parser returns pictures late, so otherwise data
     * may be missing in the current picture or in the next one.
     */
    bool opened = r->logged.openings > last.openings; /* the next part of a list */
    bool searched = r->logged.searches > last.searches && r->serial > 0 && !opened;
    bool skipped = code >= 0 && contains_skipped(r, packet, at);
    if (skipped)
        packet->flags |= AV_PKT_FLAG_CORRUPT;
    bool wrong = r->logged.errors > last.errors || searched || skipped;
    if (wrong && !r->framed)
        r->suspect_next = 2;
    r->gap |= wrong || r->logged.jumps > last.jumps;
    return code;
}

/* Returns true if an error of av_read_frame only means the end of the file. */
static bool is_end(const struct demux *r, int code)
{
    AVIOContext *file = r->format->pb;
    return file && file->error >= 0 && avio_feof(file) &&
           (code == AVERROR(EIO) || code == r->quirks->end_error);
}

/*
 * Reads the next packet of any stream. Some demuxers continue after damage, others return the same
 * error forever. Gives up when the position no longer advances.
 */
static bool read_on(struct demux *r, AVPacket *packet)
{
    enum { ERRORS_MAX = 64 };
    int64_t farthest = -1;
    for (int errors = 0; errors < ERRORS_MAX;) {
        int code = read_packet(r, packet);
        AVIOContext *file = r->format->pb;
        if (!read_faults_check(r->faults, "", NULL)) {
            av_packet_unref(packet);
            return false;
        }
        if (code >= 0 || code == AVERROR_EOF || is_end(r, code))
            return code >= 0;
        r->failed = r->gap = true;
        int64_t at = file ? avio_tell(file) : -1;
        errors = at > farthest ? 0 : errors + 1;
        farthest = at > farthest ? at : farthest;
    }
    return false;
}

/*
 * Returns true if the film ended early: by an MP4's sample table or an AVI's header, or because the
 * file ends within what the demuxer skips.
 */
static bool is_truncated(const struct demux *r)
{
    AVIOContext *file = r->format->pb;
    int64_t size = file && container_is_seekable(r->format) ? avio_size(file) : -1;
    if (size >= 0 && avio_tell(file) > size)
        return true;
    int samples = r->quirks->index_is_mp4 ? avformat_index_get_entries_count(r->stream) : 0;
    int64_t declared_us = declared_length_cut(r->format, r->stream);
    int64_t frame_us = av_rescale_q(1, r->stream->time_base, AV_TIME_BASE_Q);
    return (samples > 0 && (uint64_t)samples > r->serial + r->bare) ||
           (declared_us > 0 && declared_us - r->reached_us > frame_us + frame_us / 2);
}

static bool is_selected(const struct demux *r, const AVPacket *packet)
{
    bool selected = false;
    for (size_t i = 0; i < r->selected_count; i++)
        selected |= packet->stream_index == r->selected[i];
    return selected;
}

/* Returns true for the comments in a Theora header (is_header), which the decoder does not need. */
static bool is_comment(const struct demux *r, const AVPacket *packet)
{
    return r->stream->codecpar->codec_id == AV_CODEC_ID_THEORA && packet->data[0] == 0x81;
}

/*
 * At the end of the film, stops reading the second stream. Returns true if there is one: in a
 * truncated MP4 pictures may follow the first packet of sound that is missing.
 */
static bool leave_sound(struct demux *r)
{
    if (r->selected_count < 2 || r->stream->discard >= AVDISCARD_ALL)
        return false;
    r->format->streams[r->selected[--r->selected_count]]->discard = AVDISCARD_ALL;
    return true;
}

bool demux_read(struct demux *r, AVPacket *packet, struct err *e)
{
    bool more;
    while ((more = read_on(r, packet)) || leave_sound(r)) {
        if (!more)
            continue;
        /* An empty packet is not a picture. libavcodec may take it for the end of the stream. */
        bool video = packet->stream_index == r->stream->index;
        if (is_selected(r, packet) && packet->size > 0 && !(video && is_comment(r, packet)))
            return !video || !av_packet_get_side_data(packet, AV_PKT_DATA_ENCRYPTION_INFO, NULL) ||
                   err_set(e, ERR_INPUT, "'%s' is encrypted", path_of(r));
        r->bare += video;
        av_packet_unref(packet);
    }
    if (!read_faults_check(r->faults, path_of(r), e))
        return false;
    r->gap |= is_truncated(r);
    r->failed |= r->logged.errors > 0 || r->gap;
    return false;
}
