/* open.h - opens a film: finds its container and video stream, and reads its headers. */
#ifndef BARCODE_CONTAINER_OPEN_H
#define BARCODE_CONTAINER_OPEN_H

#include <libavutil/mastering_display_metadata.h>

#include "media/ffmpeg/libav.h"

/*
 * Opens `path`, or the film in several files `parts`, borrowed until it is closed. Finds video
 * stream `requested` (film_stream_choose) and fills `film`; the caller frees film->path, a copy,
 * and film->list, and closes *format with container_close, also after a failure. film->faults is
 * set before: it records what cannot be read. So is film->sound: SOURCE_SOUND_NONE, or which stream
 * of sound film->sound_stream shall be. Its packets are discarded, except those that are read
 * ahead.
 */
bool container_open_parts(const char *path, const struct film_parts *parts, int requested,
                          AVFormatContext **format, struct film *film, struct err *e);

/* Opens a film again, with the same `requested`. ERR_INPUT if the file is another film now. */
bool container_reopen(const struct film *film, int requested, AVFormatContext **format,
                      struct err *e);

/*
 * Opens again the film of `opened` (borrowed), whose header describes all streams, and copies their
 * parameters: probing them again takes as long as decoding some pictures.
 */
bool container_open_again(const struct film *film, const AVFormatContext *opened,
                          AVFormatContext **format, struct err *e);

/* The metadata of a packet that is in place of an image that cannot be opened. */
#define CONTAINER_MISSING "barcode_missing"

/* Closes the container and its input; sets *format to NULL. Does nothing if *format is NULL. */
void container_close(AVFormatContext **format);

/* Returns true if the film is a seekable file: not a pipe, and not a playlist. */
bool container_is_seekable(const AVFormatContext *format);

/*
 * Reads up to `bytes` bytes of the file from `at`, and restores the position. Returns how many, 0
 * at the end; -1 if the file is not seekable or cannot be read. The film's reading thread.
 */
int container_peek(const AVFormatContext *format, int64_t at, uint8_t *to, int bytes);

/* Converts a time of the stream to microseconds, limited to -TIME_MOST..TIME_MOST. */
int64_t container_us(const AVStream *s, int64_t time);

/* Returns the stored time that is 0 for a player: the earliest stream's start, or TIME_NONE. */
int64_t container_start_us(const AVFormatContext *format);

/*
 * Reads the next packet and keeps it for container_read: a pipe cannot be read twice. Sets *packet
 * to it, owned by `format`, or to NULL at the end of the film or after an error. Returns false if
 * out of memory.
 */
bool container_read_ahead(AVFormatContext *format, const AVPacket **packet);

/* Reads as av_read_frame does, the packets of container_read_ahead first. */
int container_read(AVFormatContext *format, AVPacket *packet);

/* Seeks as av_seek_frame does, and drops the packets of container_read_ahead. */
int container_seek(AVFormatContext *format, int stream, int64_t time, int flags);

/*
 * ---- film_facts.c: which streams are the film, and what is known before it is decoded ----
 *
 * Video streams are numbered from 0 in the container's order, as in ffmpeg's "v:N". Cover pictures
 * and thumbnails have no number, unless the container has no other video.
 */

/* Returns true if the container has at most cover pictures. */
bool film_has_no_video(const AVFormatContext *format);

/*
 * Returns the index of the chosen stream. `requested` is its number, or SOURCE_STREAM_CHOICE: the
 * stream that can be decoded and has the most pixels a frame, among those marked as default if
 * there are any; of equal ones the first. Returns -1 with ERR_USAGE if that number does not exist,
 * with ERR_INPUT if the container has no film.
 */
int film_stream_choose(const AVFormatContext *format, int requested, const char *path,
                       struct err *e);

/*
 * The packets of a chosen stream. In MPEG-TS a new version of the program's map may have its stream
 * at another PID, for which libavformat has another AVStream; the old one is in no program then.
 */
struct followed_stream {
    int chosen, now;     /* indexes: as chosen, and that which is read */
    int program;         /* AVProgram.id; -1: none yet */
    int64_t pos;         /* of its last packet in the file; -1: unknown */
    enum AVCodecID lost; /* the program goes on with this codec, which is not followed, or NONE */
};

/* Follows stream `chosen`, before its first packet. Sets which streams may be read: `discard`. */
struct followed_stream film_stream_begin(AVFormatContext *format, int chosen);

/*
 * Returns true if the packet that was read is the chosen stream's, or that of one of its type and
 * codec which has taken its place in its program. libavformat holds a PID's last picture back until
 * the PID comes again, so a packet from before the last one takes no place.
 */
bool film_stream_follow(AVFormatContext *format, struct followed_stream *f, const AVPacket *packet);

/*
 * Returns the index of the stream of sound that belongs to video stream `video` (-1: no video), and
 * sets *number to its number among the streams of sound, from 0. `requested` is that number, or
 * SOURCE_STREAM_CHOICE: of those of the same program, one that can be decoded, is no description
 * for the blind or deaf and no comment, is marked as default, and has the most channels; of equal
 * ones the first. Returns -1 if there is no sound; with ERR_USAGE if there is, but not that number.
 */
int film_sound_choose(const AVFormatContext *format, int video, int requested, int *number,
                      const char *path, struct err *e);

/* With -v, logs a line for each video stream if there are several. */
void film_stream_log(AVFormatContext *format, const struct film *film);

/*
 * Fills what `f`, which has its path, does not have yet, from stream `s`. `tags` are its colour
 * tags from before it was probed. Call it before the first packet is read: the orientation is that
 * of the first key frame (an SEI message of H.264 or HEVC, EXIF of images), to which it reads
 * ahead, else that of the container, as in the ffmpeg program. Returns false on `e`: interrupted,
 * or out of memory.
 */
bool film_facts_read(AVFormatContext *format, AVStream *s, struct colour_tags tags, struct film *f,
                     struct err *e);

/* Returns the duration that a truncated AVI declares, if longer than libavformat says; or 0. */
int64_t film_declared_uncut(const AVFormatContext *format, const AVStream *s);

/* Fills peak and dolby_vision from the container's metadata. */
void film_light_of_stream(const AVStream *s, struct film *f);

/* Returns MaxCLL, or else the mastering display's peak; 0 if unknown. Both may be NULL. */
int film_light_peak(const AVContentLightMetadata *content,
                    const AVMasteringDisplayMetadata *display);

/* ---- refusal.c: why a file is not a film that can be read ---- */

enum { STREAMS_MOST = 64 }; /* AVFormatContext.max_streams */

/* Fills `e`: libavformat could not open `path` with `code`, and `logged` this. Returns false. */
bool refusal_of_container(const char *path, int code, bool piped,
                          const struct av_log_counts *logged, struct err *e);

/* Returns true if the stream, whose probing `logged` this, can be decoded; else fills `e`. */
bool refusal_check_stream(AVFormatContext *format, const AVStream *s, const char *path,
                          const struct av_log_counts *logged, struct err *e);

/* Fills `e` for a file whose demuxer is not that of a film. Returns false. */
bool refusal_of_demuxer(const char *path, const AVInputFormat *demuxer, struct err *e);

/* Fills `e` for a single image. Returns false. */
bool refusal_of_picture(const char *path, struct err *e);

/*
 * Returns true if a second image of the first one's size is among the first few of a container that
 * was just opened (image2pipe, raw Motion JPEG): open it again afterwards. A photograph that
 * contains further images (Multi-Picture Format) is one image.
 */
bool film_pictures_follow(AVFormatContext *format);

/*
 * ---- allowed.c: which demuxers may read a film, and which files they may open ----
 *
 * A demuxer may read the film's file alone, not a network, devices or files of other names. A
 * playlist (HLS, ffconcat) names files, which must lie in its folder or below it.
 */

/*
 * Sets the format_whitelist of the context, and of those that its demuxer opens: the demuxers of
 * films, and `more`, a list of names ("": none). Returns 0 or an AVERROR. Any thread.
 */
int allowed_demuxers(AVFormatContext *format, const char *more);

/* Returns the names of the demuxers of films: "aa,aac,...". Static; "none" if out of memory. */
const char *allowed_names(void);

/*
 * For AVFormatContext.io_open: opens those files of a playlist, which is the input format->pb
 * (film_input.h), that playlists_file finds. Other files are refused with EPERM. Fails for the film
 * itself with the reason for which film_input_open left it to libavformat.
 */
int allowed_open(AVFormatContext *format, AVIOContext **file, const char *url, int flags,
                 AVDictionary **options);

/* For AVFormatContext.io_close2: closes what allowed_open has opened. */
int allowed_close(AVFormatContext *format, AVIOContext *file);

/* Returns the demuxer of the playlist that a regular file is by its first bytes, or NULL. */
const AVInputFormat *playlist_demuxer(const char *path);

/*
 * Checks a file that `demuxer`, which is_playlist, would read. Returns false with ERR_INPUT if its
 * name is not that of such a playlist (and playlists_allow was not called), if it names a file
 * outside of its folder, or a playlist that it must not name, or if it has no end.
 */
bool playlist_check(const char *path, const AVInputFormat *demuxer, struct err *e);

#endif
