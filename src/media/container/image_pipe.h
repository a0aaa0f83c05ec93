/*
 * image_pipe.h - files of images one after another, without a container: ffmpeg's image2pipe, raw
 * Motion JPEG.
 *
 * libavformat reads them by its demuxers of single images (jpeg_pipe and others). So a single image
 * cannot be told from a film of images until a second image is read.
 */
#ifndef BARCODE_CONTAINER_IMAGE_PIPE_H
#define BARCODE_CONTAINER_IMAGE_PIPE_H

#include <libavformat/avformat.h>
#include <stdbool.h>

/*
 * Returns true if a second image of the first one's size is among the first few of a container that
 * was just opened. Reads the container up to there: open it again afterwards. A photograph that
 * contains further images (Multi-Picture Format) is one image.
 */
bool film_pictures_follow(AVFormatContext *format);

#endif
