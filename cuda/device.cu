#include "device.h"

#include <cuda_runtime.h>
#include <cstdio>
#include <cstring>

#include "cuda_check.h"

/* Gets the runtime's primary context, which libavcodec's decoders share. */
static bool find_context(void **context, struct err *e)
{
    typedef int get_current(void **);
    void *function = NULL;
    cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 12050
    cudaError_t code = cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", &function, 12000,
                                                        cudaEnableDefault, &found);
#else
    cudaError_t code =
        cudaGetDriverEntryPoint("cuCtxGetCurrent", &function, cudaEnableDefault, &found);
#endif
    if (!cuda_check(code, "find the driver", e))
        return false;
    if (found != cudaDriverEntryPointSuccess || ((get_current *)function)(context) != 0 ||
        !*context)
        return err_set(e, ERR_ENGINE, "the CUDA driver returned no context");
    return true;
}

int gpu_device_count(void)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess)
        return count;
    cudaGetLastError(); /* clears the error: opening a device reports it */
    return 0;
}

bool gpu_device_is_exclusive(int device)
{
    int mode = cudaComputeModeDefault;
    return cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, device) != cudaSuccess ||
           mode != cudaComputeModeDefault;
}

bool gpu_device_start(int device, void **context, char *detail, size_t size, struct err *e)
{
    int count = 0;
    int driver = 0;
    if (cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0)
        return err_set(e, ERR_ENGINE,
                       "there is no usable CUDA device: no NVIDIA driver is installed");
    cudaError_t code = cudaGetDeviceCount(&count);
    if (code != cudaSuccess || count == 0)
        return err_set(e, ERR_ENGINE, "there is no usable CUDA device: %s",
                       code == cudaSuccess ? "none found" : cudaGetErrorString(code));
    if (device >= count)
        return err_set(e, ERR_ENGINE, "there is no CUDA device %d: the last one is %d", device,
                       count - 1);
    cudaDeviceProp p;
    if (!cuda_check(cudaGetDeviceProperties(&p, device), "ask the device", e))
        return false;
    if (p.major * 10 + p.minor < 75)
        return err_set(e, ERR_ENGINE,
                       "CUDA device %d (%s) is too old: compute capability %d.%d, 7.5 is needed",
                       device, p.name, p.major, p.minor);
    snprintf(detail, size, "%s", p.name);
    /* Threads that wait for the GPU sleep, because the software decoders need the cores. */
    return cuda_check(cudaSetDevice(device), "begin", e) &&
           cuda_check(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync), "begin", e) &&
           cuda_check(cudaFree(0), "begin", e) && find_context(context, e);
}
