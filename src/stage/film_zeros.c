#include "film_zeros.h"

#include <string.h>

#include "av.h"
#include "film_jump.h"

void film_zeros_open(struct film_zeros *z, AVFormatContext *format, AVStream *stream)
{
    /* In others packets are longer, or there are better signs: an index, a table, messages, counters. */
    static const char *const known[] = {"mpeg", "asf", "asf_o", "mxf", "ogg", "rm", "wtv"};
    enum { SECTOR = 2048 };
    *z = (struct film_zeros){.dts = AV_NOPTS_VALUE};
    z->frame = film_jump_frame(format, stream);
    if (film_av_seekable(format) && z->frame > 0 && film_av_is_one_of(format, known, sizeof known / sizeof *known))
        z->run = format->packet_size > SECTOR ? format->packet_size : SECTOR;
    z->size = strcmp(format->iformat->name, "asf") == 0 ? format->packet_size : 0;
}

/* True if `run` zeros lie in a row in the file from `at` to `end`. */
static bool has_zeros(AVIOContext *file, int64_t at, int64_t end, size_t run)
{
    enum { BLOCK = 4096 };
    uint8_t bytes[BLOCK];
    size_t zeros = 0;
    if (avio_seek(file, at, SEEK_SET) < 0)
        return false;
    while (at < end) {
        int got = avio_read(file, bytes, BLOCK);
        for (int i = 0; i < got && at + i < end; i++) {
            zeros = bytes[i] == 0 ? zeros + 1 : 0;
            if (zeros == run)
                return true;
        }
        if (got <= 0)
            return false;
        at += got;
    }
    return false;
}

/* True if the latest packet and `packet` cannot both lie where packets of one size would. */
static bool is_shifted(const struct film_zeros *z, const AVPacket *packet)
{
    return z->size > 0 && z->packets > 0 && packet->pos >= 0 && (packet->pos - z->at[(z->packets - 1) % FILM_ZEROS_NEAR]) % z->size != 0;
}

bool film_zeros_before(struct film_zeros *z, AVIOContext *file, const AVPacket *packet)
{
    if (z->run == 0)
        return false;
    bool hole = is_shifted(z, packet);
    if (!hole && z->packets > 0 && film_jump_is(z->frame, z->dts, packet->dts)) {
        int64_t now = avio_tell(file);
        hole = has_zeros(file, z->at[z->packets < FILM_ZEROS_NEAR ? 0 : z->packets % FILM_ZEROS_NEAR], now, z->run);
        avio_seek(file, now, SEEK_SET);
    }
    z->dts = packet->dts;
    if (packet->pos >= 0)               /* one that begins where the packet before it does has none */
        z->at[z->packets++ % FILM_ZEROS_NEAR] = packet->pos;
    return hole;
}
