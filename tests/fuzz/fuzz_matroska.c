/* fuzz_matroska.c - elements of a Matroska's header: byte 0 is the number of the video. */
#include "media/bitstream/matroska.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ebml_element x;
    if (size == 0)
        return 0;
    uint8_t *body = fuzz_copy(data + 1, size - 1);
    if (ebml_read(body, size - 1, &x))
        fuzz_demand(x.head >= 2 && x.head <= EBML_HEAD && x.head < size && x.size >= -1);
    const struct matroska_video v = matroska_video(body, size - 1, data[0]);
    fuzz_demand(v.crop.left >= 0 && v.crop.top >= 0 && v.crop.right >= 0 && v.crop.bottom >= 0 &&
                v.display_width >= 0 && v.display_height >= 0);
    (void)matroska_is_ordered(body, size - 1);
    free(body);
    return 0;
}
