/*
 * cufile_read - measures what the frame cache would gain by reading straight to the GPU.
 *
 * Reads FILE to device memory in 4 MiB pieces, once by cuFile (in its compatibility mode where the file system or the
 * driver has no direct path) and once by pread into pinned buffers and cudaMemcpyAsync, five times each, and prints the
 * rates. Not part of the build:
 *
 *   nvcc -O3 -o cufile_read cuda/lab/cufile_read.cu -lcufile && ./cufile_read FILE
 *
 * Not used: in compatibility mode it is no faster (tests/bench/RESULTS.md: 6.1 against 6.7 GB/s on tmpfs, and ext4 in a virtual
 * machine is refused), and entries are compressed, so that the cores need their bytes and not the GPU.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <chrono>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cuda_runtime.h>
#include <cufile.h>

enum { PIECE = 4 << 20, BUFFERS = 4, RUNS = 5 };

static double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static void must(bool fine, const char *what)
{
    if (fine)
        return;
    fprintf(stderr, "cufile_read: %s failed\n", what);
    exit(1);
}

static double by_cufile(const char *path, size_t bytes, char *device)
{
    int file = open(path, O_RDONLY | O_DIRECT);
    if (file < 0)
        file = open(path, O_RDONLY);
    must(file >= 0, "open");
    CUfileDescr_t description;
    memset(&description, 0, sizeof description);
    description.handle.fd = file;
    description.type = CU_FILE_HANDLE_TYPE_OPAQUE_FD;
    CUfileHandle_t handle;
    CUfileError_t status = cuFileHandleRegister(&handle, &description);
    if (status.err != CU_FILE_SUCCESS)
        fprintf(stderr, "cuFileHandleRegister: %d, %s\n", status.err, cufileop_status_error(status.err));
    must(status.err == CU_FILE_SUCCESS, "cuFileHandleRegister");
    double begun = now();
    for (size_t at = 0; at < bytes; at += PIECE) {
        size_t n = bytes - at < PIECE ? bytes - at : PIECE;
        must(cuFileRead(handle, device, n, (off_t)at, (off_t)at) == (ssize_t)n, "cuFileRead");
    }
    double took = now() - begun;
    cuFileHandleDeregister(handle);
    close(file);
    return took;
}

static double by_pinned(const char *path, size_t bytes, char *device)
{
    static char *buffer[BUFFERS];
    static cudaEvent_t free_again[BUFFERS];
    static cudaStream_t stream;
    if (!stream) {
        must(cudaStreamCreate(&stream) == cudaSuccess, "cudaStreamCreate");
        for (int i = 0; i < BUFFERS; i++)
            must(cudaMallocHost(&buffer[i], PIECE) == cudaSuccess && cudaEventCreate(&free_again[i]) == cudaSuccess, "buffers");
    }
    int file = open(path, O_RDONLY);
    must(file >= 0, "open");
    double begun = now();
    int i = 0;
    for (size_t at = 0; at < bytes; at += PIECE, i = (i + 1) % BUFFERS) {
        size_t n = bytes - at < PIECE ? bytes - at : PIECE;
        cudaEventSynchronize(free_again[i]);
        must(pread(file, buffer[i], n, (off_t)at) == (ssize_t)n, "pread");
        cudaMemcpyAsync(device + at, buffer[i], n, cudaMemcpyHostToDevice, stream);
        cudaEventRecord(free_again[i], stream);
    }
    cudaStreamSynchronize(stream);
    double took = now() - begun;
    close(file);
    return took;
}

int main(int argc, char **argv)
{
    struct stat s;
    must(argc == 2 && stat(argv[1], &s) == 0, "a file as the only argument");
    size_t bytes = (size_t)s.st_size;
    char *device;
    must(cudaMalloc(&device, bytes) == cudaSuccess && cuFileDriverOpen().err == CU_FILE_SUCCESS, "cuFileDriverOpen");
    for (int i = 0; i < RUNS; i++) {
        double a = by_cufile(argv[1], bytes, device), b = by_pinned(argv[1], bytes, device);
        printf("cuFile %.2f GB/s, pread and pinned buffers %.2f GB/s\n", bytes / a / 1e9, bytes / b / 1e9);
    }
    cuFileDriverClose();
    return 0;
}
