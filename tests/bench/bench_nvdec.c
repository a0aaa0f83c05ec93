/*
 * bench_nvdec - how fast the decoders alone are: barcode's own reading, runs and plan, but every
 * picture is decoded and thrown away inside libavcodec (AV_PKT_FLAG_DISCARD), so that nothing is
 * mapped, shrunk or clustered. What barcode itself reaches is to be compared with it.
 *
 *   bench_nvdec FILM [SOFTWARE-SESSIONS]     every 24th picture counts as wanted; prints one line
 * of JSON
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "media/bitstream/packet_scan.h"
#include "media/container/demux.h"
#include "media/container/open.h"
#include "media/source.h"
#include "media/decode/decoder.h"
#include "media/gop/chunker.h"
#include "media/nvdec/nvdec.h"
#include "barcode/base/clock.h"
#include "base/log.h"
#include "barcode/base/queue.h"

struct bench {
    struct queue *chunks;
    const char *path;
    const AVStream *stream;
    struct codec_traits traits;
    struct nvdec nvdec;
    bool soft[256];
    atomic_uint_fast64_t sent;
    atomic_int next;
};

static bool emit(void *user, struct chunk *chunk, struct err *e)
{
    struct bench *b = user;
    return queue_push(b->chunks, chunk) || err_set(e, ERR_FAILED, "the queue is closed");
}

static void drop_chunk(void *item)
{
    struct chunk *chunk = item;
    chunk_free(&chunk);
}

static void swallow(AVCodecContext *decoder, AVFrame *frame)
{
    while (avcodec_receive_frame(decoder, frame) >= 0)
        av_frame_unref(frame);
}

static void decode_chunk(struct bench *b, AVCodecContext *decoder, AVPacket *packet, AVFrame *frame,
                         struct chunk *chunk)
{
    chunk_plan(chunk, &b->traits, false);
    for (size_t i = 0; i < chunk->count; i++) {
        if (chunk->picture[i].action == ACTION_SKIP ||
            av_packet_ref(packet, chunk->picture[i].packet) < 0)
            continue;
        packet->flags |= AV_PKT_FLAG_DISCARD;
        avcodec_send_packet(decoder, packet);
        av_packet_unref(packet);
        swallow(decoder, frame);
        atomic_fetch_add(&b->sent, 1);
    }
}

static void *worker(void *argument)
{
    struct bench *b = argument;
    struct err e = ERR_INIT;
    bool soft = b->soft[atomic_fetch_add(&b->next, 1)];
    AVCodecContext *decoder = soft ? decoder_open(b->stream, b->path, 1, &e)
                                   : nvdec_decoder_open(&b->nvdec, b->stream, &e);
    AVPacket *packet = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    void *item;
    bool used = false;
    while (decoder && queue_pop(b->chunks, &item)) {
        struct chunk *chunk = item;
        bool follows = b->traits.stream == STREAM_H264 && chunk->picture[0].rap == RAP_CLOSED;
        if (used && b->traits.flush && !follows) {
            avcodec_send_packet(decoder, NULL);
            swallow(decoder, frame);
            avcodec_flush_buffers(decoder);
        }
        used = true;
        decode_chunk(b, decoder, packet, frame, chunk);
        chunk_free(&chunk);
    }
    if (decoder) {
        avcodec_send_packet(decoder, NULL);
        swallow(decoder, frame);
    } else {
        log_msg(LOG_ERROR, "%s", e.text);
    }
    avcodec_free_context(&decoder);
    av_packet_free(&packet);
    av_frame_free(&frame);
    return NULL;
}

/* Reads the film into runs. */
static bool read_all(struct bench *b, struct demux *r, uint64_t *pictures, struct err *e)
{
    struct chunker_config config = {
        .selection = {.kind = SELECT_EVERY, .every = 24, .end_us = INT64_MAX},
        .traits = b->traits,
        .clock = {.frame_us = 40000, .origin_us = TIME_NONE, .wraps = true},
        .emit = emit,
        .user = b};
    struct chunker *g = chunker_open(&config, e);
    struct picture p;
    bool ok = g != NULL;
    while (ok && demux_next(r, &p, e))
        ok = chunker_push(g, &p, e);
    ok = ok && e->code == ERR_NONE && chunker_end(g, e);
    *pictures = chunker_counts_now(g).displayed;
    chunker_free(&g);
    return ok;
}

static bool run_bench(struct bench *b, struct demux *r, int soft, uint64_t *pictures, struct err *e)
{
    pthread_t thread[256];
    int hard = 2 * b->nvdec.engines, count = hard + soft;
    b->chunks = queue_open((size_t)count + 2, drop_chunk, e);
    if (!b->chunks)
        return false;
    for (int i = 0; i < count; i++)
        b->soft[i] = i >= hard;
    for (int i = 0; i < count; i++)
        pthread_create(&thread[i], NULL, worker, b);
    bool ok = read_all(b, r, pictures, e);
    queue_close(b->chunks);
    for (int i = 0; i < count; i++)
        pthread_join(thread[i], NULL);
    queue_free(&b->chunks);
    return ok;
}

int main(int argc, char **argv)
{
    static struct bench b;
    struct err e = ERR_INIT;
    struct engine_config config = {.threads = 1};
    AVFormatContext *format = NULL;
    struct film film;
    struct demux reader;
    uint64_t pictures = 0;
    int soft = argc > 2 ? atoi(argv[2]) : 0;
    if (argc < 2 || soft < 0 || soft > 128) {
        fputs("usage: bench_nvdec FILM [SOFTWARE-SESSIONS]\n", stderr);
        return 2;
    }
    int64_t begun = clock_ns();
    struct engine *cuda = engine_open("cuda", &config, &e);
    if (!cuda || !container_open(argv[1], SOURCE_STREAM_CHOICE, &format, &film, &e) ||
        !demux_open(&reader, format, film.stream, &e)) {
        log_msg(LOG_ERROR, "%s", e.text);
        return 1;
    }
    b.path = argv[1];
    b.stream = reader.stream;
    b.traits = reader.traits;
    int64_t before = clock_ns();
    if (!nvdec_open(&b.nvdec, engine_device(cuda), NULL, b.stream, &e) ||
        !run_bench(&b, &reader, soft, &pictures, &e)) {
        log_msg(LOG_ERROR, "%s", e.text);
        return 1;
    }
    double seconds = (double)(clock_ns() - before) / 1e9;
    printf("{\"bench\":\"nvdec\",\"sessions\":%d,\"software_sessions\":%d,\"pictures\":%llu,"
           "\"sent\":%llu,\"start_up\":%.3f,"
           "\"seconds\":%.3f,\"pictures_per_second\":%.0f}\n",
           nvdec_workers(&b.nvdec), soft, (unsigned long long)pictures,
           (unsigned long long)atomic_load(&b.sent), (double)(before - begun) / 1e9, seconds,
           (double)pictures / seconds);
    nvdec_close(&b.nvdec);
    demux_close(&reader);
    avformat_close_input(&format);
    free(film.path);
    engine_close(&cuda);
    return 0;
}
