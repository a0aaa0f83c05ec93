#include "live_decode.h"

#include <dlfcn.h>
#include <libavutil/avstring.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#include "media/container/open.h"
#include "media/ffmpeg/stream_name.h"

struct scheme {
    const char *name; /* before "://" */
    struct live_url url;
};

/* HLS may name other hosts and encrypted segments, but only for a playlist that came by HTTP. */
#define WEB "http,https,tcp,tls,crypto"

static const struct scheme schemes[] = {
    {"rtsp", {.protocols = "tcp,udp,rtp", .demuxers = "rtsp", .demuxer = "rtsp"}},
    {"rtsps", {.protocols = "tcp,tls", .demuxers = "rtsp", .demuxer = "rtsp"}},
    {"rtmp", {.protocols = "rtmp,tcp", .demuxers = ""}},
    {"rtmps", {.protocols = "rtmps,tls,tcp", .demuxers = ""}},
    {"srt", {.protocols = "srt", .demuxers = ""}},
    {"udp", {.protocols = "udp", .demuxers = ""}},
    {"rtp", {.protocols = "rtp,udp", .demuxers = "rtp", .demuxer = "rtp"}},
    {"tcp", {.protocols = "tcp", .demuxers = ""}},
    {"http", {.protocols = WEB, .demuxers = "hls,mpjpeg"}},
    {"https", {.protocols = WEB, .demuxers = "hls,mpjpeg"}},
};

/* Returns true if this FFmpeg has what a scheme needs: its demuxer, or the protocol of its name. */
static bool is_built(const char *scheme, const struct live_url *url)
{
    void *next = NULL;
    const char *found;
    if (url->demuxer)
        return av_find_input_format(url->demuxer) != NULL;
    do
        found = avio_enum_protocols(&next, 0);
    while (found && strcmp(found, scheme) != 0);
    return found != NULL;
}

static bool parse_scheme(const char *name, size_t length, struct live_url *url, struct err *e)
{
    char shown[STREAM_NAME], fault = stream_name_fault(name);
    stream_name_show(name, shown);
    if (fault)
        return err_set(e, ERR_USAGE, "--live: '%s': a %c in its password is written %%%02X", shown,
                       fault, (unsigned)fault);
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        const char *known = schemes[i].name;
        if (strlen(known) != length || av_strncasecmp(known, name, length) != 0)
            continue;
        *url = schemes[i].url;
        url->path = name;
        if (!is_built(known, url))
            return err_set(e, ERR_USAGE, "--live: the FFmpeg of this build cannot read %s", known);
        return true;
    }
    return err_set(e, ERR_USAGE,
                   "--live: '%s': its scheme is not read; rtsp, rtsps, rtmp, rtmps, srt, udp, rtp, "
                   "tcp, http and https are",
                   shown);
}

/*
 * Loads libavdevice, which registers its demuxers in libavformat. It is not linked: it needs a
 * hundred libraries, of displays and sound, which would be loaded for every film. Its version is
 * that of libavformat.
 */
static void load_devices(void)
{
    char name[40];
    void (*register_all)(void) = NULL;
    snprintf(name, sizeof name, "libavdevice.so.%d", LIBAVFORMAT_VERSION_MAJOR);
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    void *found = library ? dlsym(library, "avdevice_register_all") : NULL;
    memcpy(&register_all, &found, sizeof found);
    if (register_all)
        register_all();
}

static bool parse_device(const char *name, struct live_url *url, struct err *e)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_devices);
    *url = (struct live_url){
        .protocols = "", .demuxers = "video4linux2,v4l2", .demuxer = "video4linux2", .path = name};
    if (!av_find_input_format(url->demuxer))
        return err_set(e, ERR_USAGE,
                       "--live: '%s' is a device; reading it needs FFmpeg's libavdevice", name);
    return true;
}

bool live_url_parse(const char *name, struct live_url *url, struct err *e)
{
    struct stat s;
    const char *scheme = strstr(name, "://");
    *url = (struct live_url){.protocols = "", .demuxers = "", .pipe = true, .path = name};
    if (strcmp(name, "-") == 0)
        return true;
    if (scheme)
        return parse_scheme(name, (size_t)(scheme - name), url, e);
    const char *at = strrchr(name, '@'); /* what is before it may be the password of a URL */
    if (stat(name, &s) != 0)
        return err_set(e, ERR_USAGE,
                       "--live: there is no '%s'; a stream begins with its scheme, "
                       "such as rtsp://",
                       at ? at + 1 : name);
    if (S_ISFIFO(s.st_mode))
        return true;
    if (S_ISCHR(s.st_mode))
        return parse_device(name, url, e);
    return err_set(e, ERR_USAGE,
                   "--live: '%s' is a file; a stream, a device, a folder or - goes on", name);
}

int live_url_options(const struct live_url *url, AVDictionary **options)
{
    char *all = av_asprintf("%s%s%s", allowed_names(), *url->demuxers ? "," : "", url->demuxers);
    int bad = all ? 0 : AVERROR(ENOMEM);
    if (all)
        bad |= av_dict_set(options, "format_whitelist", all, AV_DICT_DONT_STRDUP_VAL);
    bad |= av_dict_set(options, "protocol_whitelist", *url->protocols ? url->protocols : "none", 0);
    bad |= av_dict_set(options, "rtsp_transport", "tcp", 0);
    /* Lost datagrams damage frames, but the reader goes on. */
    bad |= av_dict_set(options, "overrun_nonfatal", "1", 0);
    bad |= av_dict_set(options, "buffer_size", "4194304", 0);
    /* the first second shows which streams there are; sizes come with the first frame */
    bad |= av_dict_set(options, "analyzeduration", "1000000", 0);
    bad |= av_dict_set(options, "probesize", "1000000", 0);
    return bad < 0 ? bad : 0;
}
