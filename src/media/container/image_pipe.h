/*
 * image_pipe.h - a file that is pictures one after another, without a container: ffmpeg's
 * image2pipe, raw Motion JPEG.
 *
 * libavformat's demuxers of single pictures (jpeg_pipe and its like) read them all, so that one
 * picture and a film of pictures look the same until a second picture comes.
 */
#ifndef BARCODE_CONTAINER_IMAGE_PIPE_H
#define BARCODE_CONTAINER_IMAGE_PIPE_H

#include <libavformat/avformat.h>
#include <stdbool.h>

/*
 * True if a second picture of the first one's size is among the first few, in a container that was
 * just opened. It is read for that, up to there, and is to be opened anew. A photograph that holds
 * further pictures (Multi-Picture Format) is one picture.
 */
bool film_pictures_follow(AVFormatContext *format);

#endif
