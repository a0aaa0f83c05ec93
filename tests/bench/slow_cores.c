/*
 * slow_cores.c - to be preloaded: H.264 is decoded as if on CORES (16) cores, each of which takes
 * ROW_NS (190,000) nanoseconds for every 16 lines of a picture. Of small pictures that is nearly
 * all that decoding takes, and most of it is waiting, so that two real cores show what a folder's
 * films do on many. It needs a program that is linked with libavcodec's shared library. See
 * folder_cores.sh.
 */
#include <dlfcn.h>
#include <errno.h>
#include <libavcodec/avcodec.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static sem_t idle;
static long row_ns;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static long told(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : otherwise;
}

static void begin(void)
{
    row_ns = told("ROW_NS", 190000);
    sem_init(&idle, 0, (unsigned)told("CORES", 16));
}

/* libavcodec calls it on the thread that decodes, for all rows that it is through with. */
static void on_rows(struct AVCodecContext *c, const AVFrame *frame,
                    int offset[AV_NUM_DATA_POINTERS], int y, int type, int height)
{
    (void)c, (void)frame, (void)offset, (void)y, (void)type;
    pthread_once(&once, begin);
    struct timespec time = {.tv_nsec = row_ns * height / 16};
    while (sem_wait(&idle) != 0 && errno == EINTR)
        continue;
    nanosleep(&time, NULL);
    sem_post(&idle);
}

int avcodec_open2(AVCodecContext *c, const AVCodec *codec, AVDictionary **options)
{
    int (*next)(AVCodecContext *, const AVCodec *, AVDictionary **);
    void *found = dlsym(RTLD_NEXT, "avcodec_open2");
    memcpy(&next, &found, sizeof next);
    if (codec && codec->id == AV_CODEC_ID_H264) {
        c->draw_horiz_band = on_rows;
        c->slice_flags = SLICE_FLAG_CODED_ORDER;
    }
    return next(c, codec, options);
}
