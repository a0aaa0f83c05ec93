#include "png_pixels.h"

#include <png.h>

bool png_pixels_write(const uint8_t *rgb, int width, int height, FILE *f, struct err *e)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)width,
                       .height = (png_uint_32)height,
                       .format = PNG_FORMAT_RGB,
                       .flags = PNG_IMAGE_FLAG_FAST};
    bool done = png_image_write_to_stdio(&image, f, 0, rgb, 0, NULL);
    if (!done)
        err_set(e, ERR_FAILED, "%s", image.message);
    png_image_free(&image);
    return done;
}
