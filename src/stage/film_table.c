#include "film_table.h"

#include <string.h>

#include "av.h"

/* How many packets the table of the film's stream has before an edit list cuts any; -1: unknown. */
static int64_t entries_before_edits(const AVFormatContext *format, const AVStream *stream)
{
    AVFormatContext *again = NULL;
    AVDictionary *options = NULL;
    av_dict_set(&options, "ignore_editlist", "1", 0);
    av_dict_set(&options, "protocol_whitelist", "file", 0);
    int code = avformat_open_input(&again, format->url, format->iformat, &options);
    av_dict_free(&options);
    bool same = code >= 0 && (unsigned)stream->index < again->nb_streams;
    int64_t entries = same ? avformat_index_get_entries_count(again->streams[stream->index]) : -1;
    avformat_close_input(&again);
    return entries;
}

bool film_table_lacks(const AVFormatContext *format, const AVStream *stream, uint64_t came)
{
    bool table = strstr(format->iformat->name, "mp4") != NULL;
    int64_t entries = table ? avformat_index_get_entries_count(stream) : 0, said = stream->nb_frames;
    if (entries <= 0 || (uint64_t)entries > came)
        return entries > 0;
    if (said <= 0 || (uint64_t)said <= came || !film_av_seekable(format))
        return false;
    int64_t all = entries_before_edits(format, stream);
    return all > 0 && all < said;
}
