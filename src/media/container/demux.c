#include "demux.h"

#include <assert.h>
#include <string.h>

#include "open.h"
#include "media/ffmpeg/packet.h"

static enum bitstream bitstream_of(enum AVCodecID id)
{
    switch (id) {
    case AV_CODEC_ID_H264: return STREAM_H264;
    case AV_CODEC_ID_HEVC: return STREAM_HEVC;
    case AV_CODEC_ID_MPEG1VIDEO:
    case AV_CODEC_ID_MPEG2VIDEO: return STREAM_MPEG2;
    case AV_CODEC_ID_VP8: return STREAM_VP8;
    case AV_CODEC_ID_VP9: return STREAM_VP9;
    case AV_CODEC_ID_AV1: return STREAM_AV1;
    default: return STREAM_OTHER;
    }
}

/* Returns true if the file begins with a sector of zeros: its header is lost. */
static bool begins_in_zeros(const AVFormatContext *format)
{
    enum { SECTOR = 512 };
    uint8_t head[SECTOR];
    return container_peek(format, 0, head, SECTOR) == SECTOR &&
           nal_zeros_at_end(head, SECTOR) == SECTOR;
}

struct film_clock demux_clock(const struct demux *r, const struct film *film)
{
    return (struct film_clock){.frame_us = film_frame_us(film),
                               .origin_us = container_start_us(r->format),
                               .wraps = r->format->iformat->flags & AVFMT_TS_DISCONT,
                               .delay = r->knows_places ? 0 : r->stream->codecpar->video_delay,
                               .places_from_0 = r->quirks->places_from_0};
}

void demux_begin_headers(struct demux *r)
{
    const uint8_t *extradata = r->stream->codecpar->extradata;
    size_t size = (size_t)r->stream->codecpar->extradata_size;
    r->length_size = nal_length_size(r->traits.stream, extradata, size);
    r->sets = (struct nal_sets){.state = 0};
    if (r->traits.stream == STREAM_H264)
        nal_sets_scan_extradata(extradata, size, &r->sets);
    param_sets_begin(&r->param_sets, r->traits.stream, extradata, size);
}

/* Returns the nominal frame duration, or 0 if it is unknown. */
static int64_t nominal_frame_us(AVFormatContext *format, AVStream *s)
{
    AVRational rate = av_guess_frame_rate(format, s, NULL);
    return rate.num > 0 && rate.den > 0 ? av_rescale(1000000, rate.den, rate.num) : 0;
}

/* Returns true if the index of a container that stores places has them up to the film's end. */
static bool knows_places(const struct demux *r)
{
    int entries = avformat_index_get_entries_count(r->stream);
    bool all = r->quirks->stores_places && r->quirks->index == KEY_INDEX_SAMPLES;
    return all && entries > r->stream->codecpar->video_delay && r->stream->duration > 0 &&
           avformat_index_get_entry(r->stream, entries - 1)->timestamp >= r->stream->duration / 2;
}

bool demux_open(struct demux *r, AVFormatContext *format, int stream, struct err *e)
{
    AVStream *s = format->streams[stream];
    *r = (struct demux){.format = format,
                        .stream = s,
                        .selected = {film_stream_begin(format, stream)},
                        .selected_count = 1,
                        .quirks = container_quirks(format),
                        .failed = begins_in_zeros(format)};
    /* The other streams are split into pictures by a parser, which does not report gaps. */
    r->framed = !r->quirks->unframed && !(format->iformat->flags & AVFMT_NOTIMESTAMPS);
    r->traits = codec_traits(bitstream_of(s->codecpar->codec_id));
    size_t extradata_size = (size_t)s->codecpar->extradata_size;
    r->may_suppress_output = r->traits.stream == STREAM_HEVC &&
                             nal_extradata_has_output_flag(s->codecpar->extradata, extradata_size);
    /* The key frames of alpha may be at other places. */
    r->needs_sequential = r->may_suppress_output || alpha_is_extra(s->codecpar);
    r->place_us = nominal_frame_us(format, s);
    r->frame_us = format->iformat->flags & AVFMT_TS_DISCONT ? r->place_us : 0;
    r->dts_us = TIME_NONE;
    r->knows_places = knows_places(r);
    demux_begin_headers(r);
    bool parse = r->traits.stream == STREAM_H264 || r->traits.stream == STREAM_HEVC ||
                 r->traits.stream == STREAM_AV1;
    if (!parse)
        return true;
    r->parser = av_parser_init((int)s->codecpar->codec_id);
    r->parse_context = avcodec_alloc_context3(NULL);
    if (!r->parser || !r->parse_context ||
        avcodec_parameters_to_context(r->parse_context, s->codecpar) < 0) {
        demux_close(r);
        return err_set(e, ERR_MEMORY, "out of memory for a parser");
    }
    r->parser->flags |= PARSER_FLAG_COMPLETE_FRAMES;
    return true;
}

void demux_close(struct demux *r)
{
    if (r->parser)
        av_parser_close(r->parser);
    r->parser = NULL;
    avcodec_free_context(&r->parse_context);
}

void demux_jumped(struct demux *r, uint64_t serial)
{
    r->serial = serial;
    r->gap = r->ended = r->rasl_undecodable = false;
    r->suspect_next = 0;
    r->steady = 0;
    r->dts_us = TIME_NONE;
    for (size_t i = 0; i < r->selected_count; i++)
        r->selected[i].pos = -1;
    /* The packets in between were skipped on purpose, so they are not a gap. */
}

uint64_t demux_bytes_read(const struct demux *r)
{
    bool file = r->format->pb && !r->quirks->is_playlist;
    int64_t bytes = file ? r->format->pb->bytes_read : 0;
    return bytes > 0 ? (uint64_t)bytes : 0;
}

uint64_t demux_position(const struct demux *r)
{
    int64_t at = r->format->pb ? avio_tell(r->format->pb) : 0;
    return at > 0 ? (uint64_t)at : 0;
}

/* ------------------------------------------------------------------ reading packets */

void demux_select(struct demux *r, int stream)
{
    assert(r->selected_count < DEMUX_STREAMS_MAX);
    r->selected[r->selected_count++] = film_stream_begin(r->format, stream);
}

static const char *film_path(const struct demux *r) { return strchr(r->format->url, ':') + 1; }

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

/* Returns true if the packet stands in for an image that cannot be opened. */
static bool is_substitute(const AVPacket *packet)
{
    size_t size = 0;
    const uint8_t *text = av_packet_get_side_data(packet, AV_PKT_DATA_STRINGS_METADATA, &size);
    return text && size > sizeof CONTAINER_MISSING &&
           memcmp(text, CONTAINER_MISSING, sizeof CONTAINER_MISSING) == 0;
}

/* Makes a packet undecodable: a zero byte. Returns 0 or an AVERROR. */
static int spoil_packet(AVPacket *packet)
{
    int code = av_packet_make_writable(packet);
    if (code < 0)
        return code;
    av_shrink_packet(packet, 1);
    packet->data[0] = 0;
    return 0;
}

/* Calls av_read_frame, and counts the messages that demuxers log meanwhile. */
static int read_packet(struct demux *r, AVPacket *packet)
{
    const struct av_log_counts last = r->logged;
    int64_t at = r->format->pb ? avio_tell(r->format->pb) : -1;
    struct av_log_counts *before = av_log_listen(&r->logged);
    int code = container_read(r->format, packet);
    if (code >= 0 && is_substitute(packet))
        code = spoil_packet(packet);
    av_log_listen(before);
    read_faults_add_logged(r->faults, &r->logged);
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

/* Reads any stream's next packet, also after damage, unless the position does not advance. */
static bool read_any(struct demux *r, AVPacket *packet)
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

/* Returns true if the film ended early, by its index or header or within what is skipped. */
static bool is_truncated(const struct demux *r)
{
    AVIOContext *file = r->format->pb;
    int64_t size = file && container_is_seekable(r->format) ? avio_size(file) : -1;
    if (size >= 0 && avio_tell(file) > size)
        return true;
    int samples = r->quirks->index_is_mp4 ? avformat_index_get_entries_count(r->stream) : 0;
    int64_t declared_us = film_declared_uncut(r->format, r->stream);
    int64_t frame_us = av_rescale_q(1, r->stream->time_base, AV_TIME_BASE_Q);
    return (samples > 0 && (uint64_t)samples > r->serial + r->bare) ||
           (declared_us > 0 && declared_us - r->reached_us > frame_us + frame_us / 2);
}

static bool is_selected(struct demux *r, AVPacket *packet)
{
    for (size_t i = 0; i < r->selected_count; i++) {
        struct followed_stream *f = &r->selected[i];
        if (film_stream_follow(r->format, f, packet)) {
            packet->stream_index = f->chosen;
            return true;
        }
        if (f->lost != AV_CODEC_ID_NONE)
            read_faults_lack(r->faults, "it goes on with %s in %s, which is not read",
                             av_get_media_type_string(avcodec_get_type(f->lost)),
                             avcodec_get_name(f->lost));
    }
    return false;
}

/* Returns true for the comments in a Theora header (is_header), which the decoder does not need. */
static bool is_comment(const struct demux *r, const AVPacket *packet)
{
    return r->stream->codecpar->codec_id == AV_CODEC_ID_THEORA && packet->data[0] == 0x81;
}

/* At the end, leaves the sound, if there is any: in a truncated MP4 pictures may follow. */
static bool leave_sound(struct demux *r)
{
    if (r->selected_count < 2 || r->stream->discard >= AVDISCARD_ALL)
        return false;
    r->format->streams[r->selected[--r->selected_count].now]->discard = AVDISCARD_ALL;
    return true;
}

bool demux_read(struct demux *r, AVPacket *packet, struct err *e)
{
    for (;;) {
        if (!read_any(r, packet)) {
            if (leave_sound(r))
                continue;
            break;
        }
        /* An empty packet is not a picture. libavcodec may take it for the end of the stream. */
        bool selected = is_selected(r, packet);
        bool video = selected && packet->stream_index == r->stream->index;
        bool needed = selected && packet->size > 0 && !(video && is_comment(r, packet));
        if (needed && video && av_packet_get_side_data(packet, AV_PKT_DATA_ENCRYPTION_INFO, NULL))
            return err_set(e, ERR_INPUT, "'%s' is encrypted", film_path(r));
        if (needed)
            return true;
        r->bare += video;
        av_packet_unref(packet);
    }
    if (!read_faults_check(r->faults, film_path(r), e))
        return false;
    r->gap |= is_truncated(r);
    r->failed |= r->logged.errors > 0 || r->gap;
    return false;
}

/* ------------------------------------------------------------------ describing pictures */

/* Fills what libavcodec's parser finds: picture order counts, field pictures, AV1 key frames. */
static void parse_picture(struct demux *r, const AVPacket *packet, struct picture *p)
{
    uint8_t *out = NULL;
    int out_size = 0;
    av_parser_parse2(r->parser, r->parse_context, &out, &out_size, packet->data, packet->size,
                     AV_NOPTS_VALUE, AV_NOPTS_VALUE, 0);
    if (r->traits.stream == STREAM_AV1) {
        p->rap =
            r->parser->key_frame == 1 && packet->flags & AV_PKT_FLAG_KEY ? RAP_CLOSED : RAP_NONE;
        return;
    }
    p->order = r->parser->output_picture_number;
    p->field = r->traits.stream == STREAM_H264 &&
               (r->parser->picture_structure == AV_PICTURE_STRUCTURE_TOP_FIELD ||
                r->parser->picture_structure == AV_PICTURE_STRUCTURE_BOTTOM_FIELD);
    r->needs_sequential |= p->field;
}

/* Converts a time to microseconds. Returns TIME_NONE for times beyond TIME_MOST. */
static int64_t to_microseconds(int64_t time, AVRational base)
{
    int64_t us = time == AV_NOPTS_VALUE ? TIME_NONE : av_rescale_q(time, base, AV_TIME_BASE_Q);
    return us >= -TIME_MOST && us <= TIME_MOST ? us : TIME_NONE;
}

/*
 * Records the ends of HEVC sequences within the film. The RASL pictures of a key frame after an end
 * are never displayed. Frames that wait for display may be dropped: how many depends on the
 * decoder's state, which only a sequential decoder has.
 */
static void note_ends(struct demux *r, const struct packet_info *info, struct picture *p)
{
    bool restarts = r->ended || info->after_end;
    if (!info->picture) {
        r->ended = restarts || info->ends;
        return;
    }
    r->ended = info->ends;
    if (info->rap != RAP_NONE) {
        r->rasl_undecodable = info->broken_link || restarts;
        bool cra = !info->broken_link && !info->closed;
        r->may_suppress_output |= p->serial > 0 && (info->discards || (cra && restarts));
    }
    r->may_suppress_output |= info->output_flag_present;
    r->needs_sequential |= r->may_suppress_output;
    p->hidden |= info->needs_before && r->rasl_undecodable;
}

/* Makes `p`, whose packet should contain a picture and does not, lost. It keeps its time. */
static void replace_by_lost_picture(struct demux *r, struct picture *p)
{
    r->unreadable++;
    packet_free(&p->packet);
    *p = (struct picture){.serial = p->serial,
                          .pts_us = p->pts_us,
                          .placed = p->placed,
                          .place_us = p->place_us,
                          .order = TIME_NONE,
                          .lost = true,
                          .after_gap = p->after_gap};
}

/* Records parameter sets. Those that damage may have touched do not count as changed. */
static void note_sets(struct demux *r, const struct packet_info *info, struct picture *p)
{
    size_t size = 0;
    const uint8_t *extradata = av_packet_get_side_data(p->packet, AV_PKT_DATA_NEW_EXTRADATA, &size);
    if (r->traits.stream == STREAM_H264) {
        nal_sets_scan_extradata(extradata, size, &r->sets);
        nal_sets_scan(r->length_size, info->sets, info->sets_size, &r->sets);
        p->sets = r->sets.state;
    }
    if (extradata) {
        /* Workers that begin at a later key frame would miss this header. */
        r->needs_sequential |= p->serial > 0;
        param_sets_begin(&r->param_sets, r->traits.stream, extradata, size);
        r->length_size = nal_length_size(r->traits.stream, extradata, size);
    }
    if (info->sets && !p->suspect)
        param_sets_note(&r->param_sets, r->length_size, info->sets, info->sets_size, p->serial + 1);
    bool key = p->rap != RAP_NONE || p->intra;
    r->lacking |= key && param_sets_lacking(&r->param_sets, p->serial + 1);
    r->needs_sequential |= r->lacking || r->param_sets.sequence_changed;
}

/* Returns true if frames are displayed as they are decoded: then decoding times are theirs. */
static bool shows_as_decoded(const struct demux *r)
{
    const AVCodecDescriptor *codec = avcodec_descriptor_get(r->stream->codecpar->codec_id);
    return codec && !(codec->props & AV_CODEC_PROP_REORDER);
}

/* Returns true for a Theora header, a packet where one Ogg file follows another. */
static bool is_header(const struct demux *r, const AVPacket *packet)
{
    return r->stream->codecpar->codec_id == AV_CODEC_ID_THEORA && packet->size > 0 &&
           packet->data[0] & 0x80;
}

/*
 * Returns true if a packet holds no picture, in a container that has one packet for each picture. A
 * temporal unit of AV1 always shows one. A hidden frame of VP9 mostly comes in one packet with a
 * shown one: a hidden frame alone that cannot be parsed comes from a damaged file.
 */
static bool lacks_picture(const struct demux *r, const struct picture *p,
                          const struct packet_info *info)
{
    bool shows = info->picture && info->shown;
    bool vp9 = r->traits.stream == STREAM_VP9;
    bool must = r->traits.stream == STREAM_AV1 || (vp9 && r->unreadable > 0);
    /* Packets before the film's first picture belong to no picture. */
    bool begins = info->picture && p->serial == 0;
    return (info->unreadable && !begins) || (must && !shows);
}

/*
 * Returns the size of the MPEG-PS packet with this header (ISO/IEC 13818-1, 2.5.3), or 0 if it is
 * none.
 */
static int64_t program_packet_size(const uint8_t *head, int bytes)
{
    enum { PACK = 0xba, END = 0xb9, PACK_BYTES = 14, PACK_BYTES_MPEG1 = 12 };
    if (bytes < 4 || head[0] != 0 || head[1] != 0 || head[2] != 1 || head[3] < END)
        return 0;
    if (head[3] == END)
        return 4;
    if (head[3] != PACK)
        return bytes < 6 ? 0 : 6 + (head[4] << 8 | head[5]);
    if (bytes < PACK_BYTES)
        return 0;
    return head[4] >> 6 == 1 ? PACK_BYTES + (head[13] & 7) : PACK_BYTES_MPEG1;
}

/* Returns true if other bytes than packets of an MPEG-PS are at [from, to), or too many of them. */
static bool has_stray_bytes(const struct demux *r, int64_t from, int64_t to)
{
    enum { PACKETS_MOST = 65536 };
    uint8_t head[14];
    for (int i = 0; i < PACKETS_MOST && from < to; i++) {
        int bytes = container_peek(r->format, from, head, sizeof head);
        int64_t size = program_packet_size(head, bytes);
        if (bytes < 0)
            return false;
        if (size == 0)
            return true;
        from += size;
    }
    return from < to;
}

/* Returns true if a part of an MPEG-2 picture is missing: it has a slice in each row. */
static bool lacks_slices(const struct demux *r, const struct packet_info *info)
{
    const AVCodecParameters *par = r->stream->codecpar;
    int row_lines = info->field ? 32 : 16;
    if (par->codec_id != AV_CODEC_ID_MPEG2VIDEO || !info->picture)
        return info->unreadable;
    return info->slice_rows < (par->height + row_lines - 1) / row_lines;
}

/*
 * Returns true if `packet`, which is late, follows a hole of an MPEG-PS, not a pause or an edit:
 * pictures before it are incomplete, or bytes are no packets.
 */
static bool is_hole(const struct demux *r, const AVPacket *packet)
{
    enum { NEAR = 4 };
    if (!r->quirks->is_program_stream)
        return false;
    if (r->incomplete > 0 && r->serial - r->incomplete < NEAR)
        return true;
    return r->last_pos >= 0 && has_stray_bytes(r, r->last_pos, packet->pos);
}

/*
 * Returns true if a recorder dropped frames right before `packet`, the stream's next packet. That
 * is a broadcast in which many packets are one frame apart, and then one is later. A gap of more
 * than a second is an edit. In film with pulldown each packet's duration contains its repeated
 * fields. Other containers hold screen recordings, whose times have gaps where nothing moves.
 * Returns true also for a hole.
 */
static bool skips_frames(struct demux *r, const AVPacket *packet)
{
    enum { STEADY = 15 };
    const int64_t second_us = 1000000;
    AVRational base = r->stream->time_base;
    int64_t dts_us = to_microseconds(packet->dts, base), frame_us = r->frame_us,
            last_us = r->dts_us;
    bool known = frame_us > 0 && dts_us != TIME_NONE && last_us != TIME_NONE;
    int64_t step_us = known ? dts_us - last_us : 0;
    int64_t stays_us = r->stays_us > frame_us ? r->stays_us : frame_us;
    bool steady = step_us > frame_us * 3 / 4 && step_us < frame_us * 5 / 4;
    bool late = step_us > stays_us + frame_us / 2;
    bool skips = late && ((r->steady >= STEADY && step_us <= second_us) || is_hole(r, packet));
    r->steady = steady ? r->steady + 1 : 0;
    r->last_pos = packet->pos;
    r->dts_us = dts_us;
    r->stays_us = to_microseconds(packet->duration, base);
    return skips;
}

int64_t demux_place_us(const struct demux *r, int entry)
{
    int delay = r->stream->codecpar->video_delay,
        last = avformat_index_get_entries_count(r->stream) - 1;
    int late = entry + delay <= last ? entry + delay : last;
    if (last < delay || entry > last)
        return TIME_NONE;
    AVRational base = r->stream->time_base;
    int64_t late_us = to_microseconds(avformat_index_get_entry(r->stream, late)->timestamp, base);
    int64_t first_us = to_microseconds(avformat_index_get_entry(r->stream, 0)->timestamp, base);
    int64_t out_us = to_microseconds(avformat_index_get_entry(r->stream, delay)->timestamp, base);
    if (late_us == TIME_NONE || first_us == TIME_NONE || out_us == TIME_NONE)
        return TIME_NONE;
    return late_us + (entry + delay - late) * r->place_us -
           time_queue_early(first_us, out_us, delay, r->place_us);
}

static void read_times(const struct demux *r, const AVPacket *packet, struct picture *p)
{
    AVRational base = r->stream->time_base;
    int64_t dts_us = to_microseconds(packet->dts, base);
    if (packet->duration > 0)
        p->duration_us = to_microseconds(packet->duration, base);
    /* libavformat guesses presentation times of some pictures. */
    bool timed = r->quirks->times_mpeg2 && r->traits.stream == STREAM_MPEG2;
    if (r->quirks->stores_places && !timed && !shows_as_decoded(r)) {
        p->guessed = packet->pts != AV_NOPTS_VALUE;
        int entry = r->knows_places
                        ? av_index_search_timestamp(r->stream, packet->dts, AVSEEK_FLAG_ANY)
                        : -1;
        p->place_us = entry < 0 ? dts_us : demux_place_us(r, entry);
        p->placed = p->place_us != TIME_NONE;
        return;
    }
    p->pts_us = to_microseconds(packet->pts, base);
    if (p->pts_us == TIME_NONE && shows_as_decoded(r))
        p->pts_us = dts_us;
}

void demux_describe(struct demux *r, AVPacket *packet, struct picture *p)
{
    struct packet_info info;
    r->gap |= packet->flags & AV_PKT_FLAG_CORRUPT || skips_frames(r, packet);
    int64_t at = to_microseconds(packet->dts, r->stream->time_base);
    r->reached_us = at > r->reached_us ? at : r->reached_us;
    packet_scan(r->traits.stream, r->length_size, packet->data, (size_t)packet->size, &info);
    *p = (struct picture){
        .packet = packet, .serial = r->serial++, .pts_us = TIME_NONE, .order = TIME_NONE};
    read_times(r, packet, p);
    p->after_gap = r->gap;
    r->gap = false;
    bool dropped = packet->flags & AV_PKT_FLAG_DISCARD;
    if (r->framed && !dropped && lacks_picture(r, p, &info)) {
        replace_by_lost_picture(r, p);
        return;
    }
    p->rap = info.rap;
    p->intra = info.intra;
    p->field = info.field;
    p->temporal_id = info.temporal_id;
    bool header = is_header(r, packet);
    p->hidden = !info.picture || !info.shown || dropped || header;
    /* its data is truncated, or a part is missing */
    p->suspect =
        r->suspect_next > 0 || (r->framed && packet->flags & AV_PKT_FLAG_CORRUPT) || info.zeroed;
    p->illegal_zeros = info.illegal_zeros;
    r->suspect_next -= r->suspect_next > 0;
    p->empty = (!info.picture && !info.unreadable) || header;
    p->droppable = info.droppable;
    p->needs_before = info.needs_before;
    p->marked_leading = info.leading;
    p->closed = info.closed;
    if (info.order >= 0)
        p->order = info.order;
    r->needs_sequential |= info.field; /* two packets a picture would count twice */
    note_ends(r, &info, p);
    r->hidden += p->hidden;
    if (lacks_slices(r, &info))
        r->incomplete = r->serial;
    if (r->parser)
        parse_picture(r, packet, p);
    note_sets(r, &info, p);
}

bool demux_next(struct demux *r, struct picture *p, struct err *e)
{
    AVPacket *packet = av_packet_alloc();
    bool more = packet != NULL, video = false;
    if (!packet)
        return err_memory(e, sizeof *packet);
    while (!video && (more = demux_read(r, packet, e))) {
        video = packet->stream_index == r->stream->index;
        if (r->tap)
            r->tap(r->tap_user, packet);
        if (!video)
            av_packet_unref(packet);
    }
    if (more)
        demux_describe(r, packet, p);
    else
        av_packet_free(&packet);
    return more;
}
