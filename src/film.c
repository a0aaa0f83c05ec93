#include "barcode/film.h"

void film_fit(int width, int height, int side, int *out_width, int *out_height)
{
    int longer = width > height ? width : height;
    int64_t shorter = width > height ? height : width;
    if (side < longer) {
        side = side > 1 ? side : 1;
        shorter = (2 * shorter * side + longer) / (2 * (int64_t)longer);
        longer = side;
    }
    int least = shorter > 1 ? (int)shorter : 1;
    *out_width = width > height ? longer : least;
    *out_height = width > height ? least : longer;
}
