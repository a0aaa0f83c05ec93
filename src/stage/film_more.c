#include "film_more.h"

#include <stdlib.h>
#include <string.h>

#include <libavutil/intreadwrite.h>

#include "av.h"
#include "mp4_box.h"
#include "ts_packet.h"

bool film_more_behind(const AVFormatContext *format)
{
    enum { BOXES_MOST = 256 };
    if (!strstr(format->iformat->name, "mp4") || !film_av_seekable(format))
        return false;
    bool film = false, type = false, behind = false;
    int64_t at = 0;
    for (int i = 0; i < BOXES_MOST && at >= 0; i++) {
        uint8_t head[MP4_BOX_HEAD_LONG];
        int got = film_av_peek(format, at, head, sizeof head);
        bool moov = mp4_box_is(head, got, "moov");
        /* Of a fragmented one libavformat reads on, and each segment may bring the head anew. */
        if (mp4_box_is(head, got, "moof"))
            return false;
        behind |= moov && film && type;
        /* A writer may leave an older `moov` behind; a second film brings its file type too. */
        type |= film && mp4_box_is(head, got, "ftyp");
        film |= moov;
        at = mp4_box_next(head, got, at);
    }
    return behind;
}

/* ------------------------------------------------------------------ MPEG-TS */

enum { BLOCK = 1 << 16, PIDS_MOST = 8 };

/* The video streams but `stream`, of any programme: libavformat forgets a programme's streams when it is changed. */
static int others_of(const AVFormatContext *format, const AVStream *stream, int pid[PIDS_MOST])
{
    int count = 0;
    for (unsigned i = 0; i < format->nb_streams && count < PIDS_MOST; i++)
        if (format->streams[i] != stream && format->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_VIDEO)
            pid[count++] = format->streams[i]->id;
    return count;
}

/* Adds up how many pictures' packets begin from `at` to `end`, of each PID, until one has `enough`: which; -1: none. */
static int count_begins(const AVFormatContext *format, int64_t at, int64_t end, const int pid[], int pids, int enough)
{
    uint8_t *bytes = malloc(BLOCK);
    int begins[PIDS_MOST] = {0}, found = -1;
    while (bytes && found < 0 && at < end) {
        int got = film_av_peek(format, at, bytes, BLOCK);
        size_t size = got > 0 ? (size_t)got : 0, i = 0, length = ts_packet_find(bytes, size, &i);
        if (length == 0)
            break;
        for (; i + length <= size && at + (int64_t)i < end && found < 0; i += length)
            for (int p = 0; p < pids && bytes[i] == TS_PACKET_SYNC; p++)
                if ((bytes[i + 1] & 0x40) && (AV_RB16(bytes + i + 1) & 0x1fff) == pid[p] && ++begins[p] == enough)
                    found = p;
        at += (int64_t)i;
    }
    free(bytes);
    return found;
}

bool film_more_goes_on(const AVFormatContext *format, const AVStream *stream, int64_t last)
{
    const int64_t near = 16 << 20, most = 64 << 20;
    enum { ENOUGH = 10 };          /* pictures: a few may be what a recorder was stopped in */
    int pid[PIDS_MOST], pids = 0;
    if (strcmp(format->iformat->name, "mpegts") == 0 && film_av_seekable(format) && last >= 0)
        pids = others_of(format, stream, pid);
    for (int p; pids > 0 && (p = count_begins(format, last, last + most, pid, pids, ENOUGH)) >= 0; pid[p] = pid[--pids])
        /* One that ran beside the film's is another one, and may be longer; of a few pictures a minute, even. */
        if (count_begins(format, last < near ? 0 : last - near, last, pid + p, 1, 1) < 0 && count_begins(format, 0, last < near ? last : near, pid + p, 1, 1) < 0)
            return true;
    return false;
}
