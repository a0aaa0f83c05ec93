/*
 * points_boxes.h - the vector versions of points_box. One source (points_template.h) for all.
 */
#ifndef BARCODE_POINTS_BOXES_H
#define BARCODE_POINTS_BOXES_H

#include "barcode/points.h"

void points_box_avx2(struct points *p);
void points_box_avx512(struct points *p);

#endif
