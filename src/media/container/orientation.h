/*
 * orientation.h - how a film's frames are to be turned: the bitstream's word, else the container's.
 */
#ifndef BARCODE_CONTAINER_ORIENTATION_H
#define BARCODE_CONTAINER_ORIENTATION_H

#include <libavformat/avformat.h>

#include "barcode/base/err.h"
#include "barcode/engine/frame.h"

/*
 * Finds the orientation of the film of stream `s`, by the order of the ffmpeg program: that of the
 * first key frame (the SEI message of H.264 and HEVC, EXIF of images), else the display matrix of
 * the container. Reads ahead to that key frame (read_ahead.h). Call it once, before the first
 * packet is read. Returns false on `e`: interrupted, or out of memory.
 */
bool container_find_orientation(AVFormatContext *format, const AVStream *s, struct orientation *o,
                                struct err *e);

#endif
