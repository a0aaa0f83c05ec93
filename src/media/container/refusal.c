#include "open.h"

#include <errno.h>
#include <inttypes.h>
#include <libavcodec/avcodec.h>
#include <libavutil/pixdesc.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "container_quirks.h"
#include "film_input.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/limits.h"

/* ------------------------------------------------------------------ images */

enum { LOOKED_AT = 5 }; /* images; the first ones of a film may be damaged */

/* Returns true if the codec has a parser. Otherwise the demuxer returns the file as one image. */
static bool can_be_split(enum AVCodecID codec)
{
    AVCodecParserContext *parser = av_parser_init((int)codec);
    bool can = parser != NULL;
    av_parser_close(parser);
    return can;
}

/* Returns true for a JPEG that lists further images, such as another viewpoint or a gain map. */
static bool is_photograph(enum AVCodecID codec, const AVPacket *packet)
{
    const uint8_t *data = packet->data;
    size_t size = packet->size > 0 ? (size_t)packet->size : 0;
    if (codec != AV_CODEC_ID_MJPEG)
        return false;
    for (size_t at = 2; at + 8 <= size && data[at] == 0xff && data[at + 1] != 0xda;) {
        if (data[at + 1] == 0xe2 && memcmp(data + at + 4, "MPF", 4) == 0)
            return true;
        at += 2 + ((size_t)data[at + 2] << 8 | data[at + 3]);
    }
    return false;
}

/* Returns how many decoded images have the size of the first one; stops at two. */
static int count_alike(AVCodecContext *c, AVFrame *frame, int so_far, int size[2])
{
    for (; so_far < 2 && avcodec_receive_frame(c, frame) >= 0; av_frame_unref(frame)) {
        if (so_far == 0) {
            size[0] = frame->width;
            size[1] = frame->height;
        }
        so_far += frame->width == size[0] && frame->height == size[1];
    }
    return so_far;
}

static bool has_second_image(AVFormatContext *format, AVCodecContext *c, AVPacket *packet,
                             AVFrame *frame)
{
    int alike = 0, size[2] = {0, 0};
    bool photograph = false;
    for (int i = 0; i < LOOKED_AT && alike < 2 && !photograph && av_read_frame(format, packet) >= 0;
         i++) {
        photograph = i == 0 && is_photograph(c->codec_id, packet);
        avcodec_send_packet(c, packet);
        av_packet_unref(packet);
        alike = count_alike(c, frame, alike, size);
    }
    avcodec_send_packet(c, NULL);
    return !photograph && count_alike(c, frame, alike, size) > 1;
}

bool film_pictures_follow(AVFormatContext *format)
{
    const AVCodecParameters *par = format->nb_streams > 0 ? format->streams[0]->codecpar : NULL;
    const AVCodec *codec =
        par && can_be_split(par->codec_id) ? avcodec_find_decoder(par->codec_id) : NULL;
    AVCodecContext *c = codec ? avcodec_alloc_context3(codec) : NULL;
    if (c)
        c->max_pixels = (int64_t)limits_pixels();
    AVPacket *packet = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    bool follow = false;
    if (c && packet && frame) {
        c->thread_count = 1;
        /* first, because the demuxer of a pipe needs it to know the size */
        follow = avformat_find_stream_info(format, NULL) >= 0 &&
                 avcodec_open2(c, codec, NULL) >= 0 && has_second_image(format, c, packet, frame);
    }
    avcodec_free_context(&c);
    av_packet_free(&packet);
    av_frame_free(&frame);
    return follow;
}

/* Returns true for an animated WebP, by its header. FFmpeg reads it as a single image. */
static bool is_animated_webp(const char *path)
{
    uint8_t head[21] = {0};
    return file_read_begin(path, head, sizeof head) == sizeof head &&
           memcmp(head, "RIFF", 4) == 0 && memcmp(head + 8, "WEBPVP8X", 8) == 0 && head[20] & 2;
}

bool refusal_of_picture(const char *path, struct err *e)
{
    if (is_animated_webp(path))
        return err_set(e, ERR_INPUT, "'%s' is an animated WebP, which this FFmpeg does not decode",
                       path);
    return err_set(e, ERR_INPUT,
                   "'%s' is an image, not a film (--sequence makes a film of a folder's images)",
                   path);
}

/* ------------------------------------------------------------------ encryption */

/* Returns true for Common Encryption, FairPlay, a Matroska track's key ID and ASF's two objects. */
static bool is_encrypted(const AVFormatContext *format, const AVStream *s)
{
    static const uint32_t tags[] = {MKTAG('e', 'n', 'c', 'v'), MKTAG('e', 'n', 'c', 'a'),
                                    MKTAG('d', 'r', 'm', 'i'), MKTAG('d', 'r', 'm', 's')};
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (s->codecpar->codec_tag == tags[i])
            return true;
    if (av_compat_side_data(s, AV_PKT_DATA_ENCRYPTION_INIT_INFO, NULL) ||
        av_dict_get(s->metadata, "enc_key_id", NULL, 0) ||
        av_dict_get(format->metadata, "ASF_Protection_Type", NULL, 0))
        return true;
    const AVDictionaryEntry *extended = av_dict_get(format->metadata, "encryption", NULL, 0);
    return extended && strcmp(extended->value, "ASF Extended Content Encryption") == 0;
}

/* ------------------------------------------------------------------ refusals */

bool refusal_of_demuxer(const char *path, const AVInputFormat *demuxer, struct err *e)
{
    /* a pattern of names, such as img%03d.png, is an image without a file */
    if (access(path, F_OK) != 0)
        return err_set(e, ERR_INPUT, "cannot open '%s': %s", path, strerror(errno));
    if (container_quirks_of(demuxer)->is_image)
        return refusal_of_picture(path, e);
    return err_set(e, ERR_INPUT, "'%s' is not a film: it only names other sources (%s)", path,
                   demuxer->name);
}

/* Returns true if the header of an MP4's first box has the brand of HEIF or AVIF. */
static bool is_image_brand(const uint8_t head[12])
{
    const uint8_t *brand = head + 8;
    return memcmp(brand, "hei", 3) == 0 || memcmp(brand, "mif1", 4) == 0 ||
           memcmp(brand, "avif", 4) == 0;
}

/* Returns true for an MP4 without an index: a download that stopped early, for instance. */
static bool lacks_index(const char *path)
{
    enum { HEAD = MP4_BOX_HEAD_LONG };
    uint8_t head[HEAD] = {0};
    FILE *f = file_open_regular(path);
    if (!f)
        return false;
    bool film = fread(head, 12, 1, f) == 1 && mp4_box_is(head, 12, "ftyp") && !is_image_brand(head);
    bool index = false;
    for (int64_t at = 0; film && !index && at >= 0; at = mp4_box_next(head, HEAD, at)) {
        if (fseeko(f, at, SEEK_SET) != 0 || fread(head, HEAD, 1, f) != 1)
            break;
        index = mp4_box_is(head, HEAD, "moov");
    }
    fclose(f);
    return film && !index;
}

static bool refuse_streams(const char *path, struct err *e)
{
    return err_set(e, ERR_INPUT, "'%s' has more than %d streams", path, STREAMS_MOST);
}

/* Refuses frames of more than limits_pixels, of whose decoder `logged` has the messages. */
static bool check_pixels(const AVCodecParameters *par, const char *path,
                         const struct av_log_counts *logged, struct err *e)
{
    bool sized = par->width > 0 && par->height > 0;
    int64_t wide = sized ? par->width : logged->wide, high = sized ? par->height : logged->high;
    if ((uint64_t)wide * (uint64_t)high <= limits_pixels())
        return true;
    return err_set(e, ERR_INPUT,
                   "'%s' has frames of %" PRId64 "x%" PRId64 ", more than %" PRIu64
                   " pixels (see --max-pixels)",
                   path, wide, high, limits_pixels());
}

bool refusal_check_stream(AVFormatContext *format, const AVStream *s, const char *path,
                          const struct av_log_counts *logged, struct err *e)
{
    const AVCodecParameters *par = s->codecpar;
    bool pictures = par->codec_type == AVMEDIA_TYPE_VIDEO;
    if (pictures && !check_pixels(par, path, logged, e))
        return false;
    bool sized = par->width > 0 && par->height > 0;
    if (is_encrypted(format, s))
        return err_set(e, ERR_INPUT, "'%s' is encrypted", path);
    if (!pictures)
        return true; /* sound that cannot be decoded is silent */
    if (!avcodec_find_decoder(par->codec_id))
        return err_set(e, ERR_INPUT, "cannot decode '%s': no decoder for its codec '%s'", path,
                       avcodec_get_name(par->codec_id));
    if (!sized && logged->many_streams)
        return refuse_streams(path, e);
    if (!sized) /* libavformat does not report the scrambling of an MPEG-TS */
        return err_set(e, ERR_INPUT,
                       "cannot decode '%s': its frame size is unknown; it may be encrypted", path);
    if (par->format != AV_PIX_FMT_NONE && !view_format_known(par->format))
        return err_set(e, ERR_INPUT, "cannot decode '%s': pixel format '%s' is not supported", path,
                       av_get_pix_fmt_name(par->format));
    return true;
}

bool refusal_of_container(const char *path, int code, bool piped,
                          const struct av_log_counts *logged, struct err *e)
{
    const char *part = logged->unopened;
    char text[128];
    if (interrupted())
        return interrupt_error(e);
    if (logged->many_streams)
        return refuse_streams(path, e);
    if (code == AVERROR(ENOMEM))
        return err_set(e, ERR_MEMORY, "out of memory while '%s' was being opened", path);
    if (part[0])
        return err_set(e, ERR_INPUT, "cannot open '%s': cannot open its part '%s': %s", path, part,
                       av_error_text(code, text));
    if (code == AVERROR(ESPIPE) && piped)
        return err_set(
            e, ERR_INPUT,
            "cannot read '%s' from a pipe: FFmpeg needs the size of such a film (an APNG that "
            "repeats); give a file",
            path);
    if (code == AVERROR_INVALIDDATA && lacks_index(path))
        return err_set(
            e, ERR_INPUT,
            "'%s' is an MP4 without its index (moov): it is truncated, or was never finished",
            path);
    struct stat s;
    if (stat(path, &s) == 0 && S_ISREG(s.st_mode) && s.st_size == 0)
        return err_set(e, ERR_INPUT, "'%s' is not a film: the file is empty", path);
    if (code == AVERROR_EOF)
        return err_set(e, ERR_INPUT,
                       "'%s' is not a film: it has too little data, or it is encrypted", path);
    if (code == AVERROR_INVALIDDATA)
        return err_set(e, ERR_INPUT, "'%s' is not a film: %s", path, av_error_text(code, text));
    return err_set(e, ERR_INPUT, "cannot open '%s': %s", path, av_error_text(code, text));
}
