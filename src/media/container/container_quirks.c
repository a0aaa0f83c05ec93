#include "container_quirks.h"

#include <fnmatch.h>

#define LISTS_FRAMES .frames_have_times = true, .has_complete_header = true
#define PLAYLIST .is_playlist = true, .unframed = true
#define NAMES_SOURCES .names_sources = true

static const struct container_quirks quirks_table[] = {
    {"mov,*", LISTS_FRAMES, .index = KEY_INDEX_SAMPLES, .index_is_mp4 = true},
    {"matroska,*", LISTS_FRAMES, .index = KEY_INDEX_CUES, .duration_from_0 = true,
     .is_matroska = true},
    /* FFmpeg writes 2^30 frames into a pipe. A packet may be a field. */
    {"avi", .index = KEY_INDEX_SAMPLES, .marks_by_index = true, .stores_places = true,
     .places_from_0 = true, .unset_frames = 1 << 30, .shortens_duration = true},
    {"mpegts", .unframed = true, .frames_have_times = true, .seeks_to_any_byte = true},
    {"mpeg", .unframed = true, .seeks_to_any_byte = true, .joins_bytes = true,
     .is_program_stream = true},
    {"wtv", .unframed = true},
    {"mpegvideo", .unframed = true, .seeks_to_any_byte = true, .joins_bytes = true},
    {"h264", .seeks_to_any_byte = true, .joins_bytes = true},
    {"hevc", .seeks_to_any_byte = true, .joins_bytes = true},
    {"m4v", .seeks_to_any_byte = true, .joins_bytes = true},
    {"flv", .longest_duration = true, .duration_from_0 = true},
    {"asf", .stores_places = true, .longest_duration = true, .duration_from_0 = true,
     .seeks_by_bisection = true},
    {"nut", .longest_duration = true, .seeks_by_bisection = true},
    {"ogg", .seeks_by_bisection = true},
    {"mxf", .stores_places = true, .times_mpeg2 = true, .places_from_0 = true,
     .seeks_by_bisection = true},
    {"gxf", .end_error = -1},
    {"mpjpeg", .end_error = AVERROR_INVALIDDATA},
    /* -1 as an unsigned number, or 65,535 (NVIDIA's Video Codec SDK) */
    {"ivf", .duration_max = INT32_MAX, .unset_duration = UINT16_MAX},
    {"rm", .unset_duration = 3600000}, /* FFmpeg writes an hour into a pipe */
    {"concat", PLAYLIST, .clock_from_0 = true},
    {"dash", PLAYLIST},
    {"hls*", PLAYLIST, .lists_durations = true},
    {"imf", PLAYLIST},
    {"avisynth", NAMES_SOURCES},
    {"rtp", NAMES_SOURCES},
    {"rtsp", NAMES_SOURCES},
    {"sap", NAMES_SOURCES},
    {"sdp", NAMES_SOURCES},
    {"vapoursynth", NAMES_SOURCES},
    {"vobsub", NAMES_SOURCES},
    {"*_pipe", .is_image_pipe = true, .unframed = true},
    {"image2*", .is_image = true},
    {"tty", .is_text = true},
    {.demuxer = "*"}};

const struct container_quirks *container_quirks_of(const AVInputFormat *demuxer)
{
    const struct container_quirks *quirks = quirks_table;
    while (fnmatch(quirks->demuxer, demuxer->name, 0) != 0)
        quirks++;
    return quirks;
}

const struct container_quirks *container_quirks(const AVFormatContext *format)
{
    return container_quirks_of(format->iformat);
}
