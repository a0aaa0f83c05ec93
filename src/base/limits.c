#include "limits.h"

#include "machine.h"

static uint64_t wanted_memory, wanted_pixels;

void limits_set(uint64_t memory, uint64_t pixels)
{
    wanted_memory = memory;
    wanted_pixels = pixels;
}

uint64_t limits_memory_of(uint64_t machine, uint64_t wanted)
{
    enum { RESERVE = 16 };
    uint64_t allowed = machine == UINT64_MAX ? machine : machine - machine / RESERVE;
    return wanted > 0 && wanted < machine ? wanted : allowed;
}

uint64_t limits_memory(void) { return limits_memory_of(machine_memory(), wanted_memory); }

uint64_t limits_pixels(void) { return wanted_pixels > 0 ? wanted_pixels : LIMITS_PIXELS; }
