/*
 * fuzz_sound.c - any bytes as packets of sound: byte 0 picks the codec, byte 1 the rate, byte 2 the
 * channels, byte 3 the size of the extradata in units of 4 bytes. The rest is extradata and the
 * stream, which libavcodec's parser cuts into packets; without one, each packet has 256 bytes.
 */
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/channel_layout.h>
#include <string.h>

#include "base/log.h"
#include "sound/film_sound.h"
#include "media/ffmpeg/libav.h"
#include "media/sound/sound_reading.h"
#include "fuzz.h"

static const enum AVCodecID codecs[] = {
    AV_CODEC_ID_AAC,       AV_CODEC_ID_AC3,       AV_CODEC_ID_EAC3,     AV_CODEC_ID_MP3,
    AV_CODEC_ID_MP2,       AV_CODEC_ID_DTS,       AV_CODEC_ID_FLAC,     AV_CODEC_ID_OPUS,
    AV_CODEC_ID_VORBIS,    AV_CODEC_ID_PCM_S16LE, AV_CODEC_ID_PCM_U8,   AV_CODEC_ID_PCM_F32LE,
    AV_CODEC_ID_PCM_S24BE, AV_CODEC_ID_PCM_F64LE, AV_CODEC_ID_AAC_LATM, AV_CODEC_ID_TRUEHD,
    AV_CODEC_ID_ALAC,      AV_CODEC_ID_WMAV2,     AV_CODEC_ID_ADPCM_MS, AV_CODEC_ID_WAVPACK};
static const int rates[] = {48000, 44100, 1, 8, 8000, 22050, 96000, 192000, 768000, 768001, 0, -1};

enum { PACKET = 256, SECONDS_MOST = 5 };

/* Adds the sound's stream to `format`. */
static AVStream *describe(AVFormatContext *format, const uint8_t head[4], const uint8_t *extradata,
                          size_t size)
{
    AVStream *s = avformat_new_stream(format, NULL);
    fuzz_demand(s != NULL);
    AVCodecParameters *p = s->codecpar;
    p->codec_type = AVMEDIA_TYPE_AUDIO;
    p->codec_id = codecs[head[0] % (sizeof codecs / sizeof *codecs)];
    p->sample_rate = rates[head[1] % (sizeof rates / sizeof *rates)];
    p->block_align = head[2] * 4;
    av_channel_layout_default(&p->ch_layout, head[2]);
    p->extradata = av_mallocz(size + AV_INPUT_BUFFER_PADDING_SIZE);
    fuzz_demand(p->extradata != NULL);
    memcpy(p->extradata, extradata, size);
    p->extradata_size = (int)size;
    return s;
}

/* Sends a packet of a film: most follow one another, some have no time or a wrong one. */
static bool send(struct sound_decoder *d, const uint8_t *data, int size, unsigned number)
{
    struct err e = ERR_INIT;
    AVPacket *packet = av_packet_alloc();
    fuzz_demand(packet && av_new_packet(packet, size) >= 0);
    memcpy(packet->data, data, (size_t)size);
    packet->pts = data[size / 2] == 0xff   ? AV_NOPTS_VALUE
                  : data[size / 2] == 0xfe ? INT64_C(1000000) - (int64_t)number
                                           : (int64_t)number * 21333;
    bool ok = sound_decoder_put(d, packet, &e);
    av_packet_free(&packet);
    return ok;
}

static bool send_all(struct sound_decoder *d, enum AVCodecID codec, const uint8_t *data,
                     size_t size)
{
    AVCodecParserContext *parser = av_parser_init((int)codec);
    AVCodecContext *c = avcodec_alloc_context3(NULL);
    uint8_t *padded = av_mallocz(size + AV_INPUT_BUFFER_PADDING_SIZE);
    unsigned number = 0;
    bool ok = true;
    fuzz_demand(c && padded);
    memcpy(padded, data, size);
    for (size_t at = 0; ok && at < size;) {
        uint8_t *packet = padded + at;
        int left = (int)(size - at), bytes = left < PACKET ? left : PACKET, used = bytes;
        if (parser)
            used = av_parser_parse2(parser, c, &packet, &bytes, padded + at, left, AV_NOPTS_VALUE,
                                    AV_NOPTS_VALUE, 0);
        at += used > 0 ? (size_t)used : 1;
        ok = bytes <= 0 || send(d, packet, bytes, number++);
    }
    av_parser_close(parser);
    avcodec_free_context(&c);
    av_free(padded);
    return ok;
}

static void check(struct film_sound *s)
{
    struct err e = ERR_INIT;
    struct film_sound copy;
    struct sound_row row;
    uint8_t *bytes;
    size_t count;
    fuzz_demand(s->rows <= SOUND_ROWS_MOST && s->hops > 0);
    fuzz_demand(s->samples <= UINT64_C(16000) * (SECONDS_MOST + 1));
    film_sound_span(s, 0, SECONDS_MOST * INT64_C(1000000), &row);
    fuzz_demand(film_sound_write(s, &bytes, &count, &e));
    fuzz_demand(film_sound_read(&copy, bytes, count, &e));
    fuzz_demand(copy.rows == s->rows && copy.peaks == s->peaks && copy.errors == s->errors);
    free(bytes);
    film_sound_free(&copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err e = ERR_INIT;
    struct sound_job job = {.isa = ISA_BASE};
    if (size < 4 || size > 1 << 20)
        return 0;
    av_log_install();
    log_set_level(LOG_ERROR);
    size_t extradata = (size_t)data[3] * 4 < size - 4 ? (size_t)data[3] * 4 : 0;
    AVFormatContext *format = avformat_alloc_context();
    fuzz_demand(format != NULL);
    AVStream *s = describe(format, data, data + 4, extradata);
    s->codecpar->profile = data[0] & 0x80 ? AV_PROFILE_AAC_LOW : -99 /* unknown */;
    struct sound_decoder *d =
        sound_decoder_open(s, 0, "film", SECONDS_MOST * INT64_C(1000000), &job, &e);
    fuzz_demand(d != NULL);
    bool ok = send_all(d, s->codecpar->codec_id, data + 4 + extradata, size - 4 - extradata);
    ok = sound_decoder_close(&d, ok, &e) && ok;
    fuzz_demand(ok == job.done && ok == (e.code == ERR_NONE));
    if (ok)
        check(&job.sound);
    film_sound_free(&job.sound);
    avformat_free_context(format);
    return 0;
}
