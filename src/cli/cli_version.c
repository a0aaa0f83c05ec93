#include "cli_version.h"

#include "base/version.h"
#include "barcode/engine/engine.h"
#include "media/ffmpeg/ffmpeg.h"

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

void cli_print_version(FILE *out)
{
    char libraries[512];
    libraries_describe(libraries, sizeof libraries);
    fprintf(out, "barcode " BARCODE_VERSION "\n%s", libraries);
#ifdef BARCODE_CUDA
    fprintf(out, "CUDA %d.%d\n", engine_cuda.toolkit / 1000, engine_cuda.toolkit % 1000 / 10);
#endif
    fputs("compiler " COMPILER "\n", out);
}
