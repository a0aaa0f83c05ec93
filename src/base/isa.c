#include "barcode/base/isa.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"base", "avx2", "vnni"};

#ifdef __x86_64__

/*
 * These functions check the flags that the Makefile sets for the _isa files: the compiler may
 * use any of them. __builtin_cpu_supports also checks that the operating system
 * saves the registers. LZCNT is not checked, because clang 14 does not know its name here; every
 * processor with AVX2 and BMI has it.
 */
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

static bool has_vnni(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vnni");
}

bool isa_supported(enum isa isa)
{
    __builtin_cpu_init();
    switch (isa) {
    case ISA_BASE: return true;
    case ISA_AVX2: return has_avx2();
    case ISA_VNNI: return has_vnni();
    }
    return false;
}

#else

bool isa_supported(enum isa isa) { return isa == ISA_BASE; }

#endif

const char *isa_name(enum isa isa) { return (unsigned)isa <= ISA_VNNI ? names[isa] : "?"; }

bool isa_choose(enum isa *isa, struct err *e)
{
    const char *forced = getenv("BARCODE_ISA");
    if (!forced || !*forced) {
        *isa = ISA_VNNI;
        while (*isa != ISA_BASE && !isa_supported(*isa))
            *isa = (enum isa)(*isa - 1);
        return true;
    }
    for (enum isa i = ISA_BASE; i <= ISA_VNNI; i = (enum isa)(i + 1)) {
        if (strcmp(forced, names[i]) != 0)
            continue;
        if (!isa_supported(i))
            return err_set(
                e, ERR_USAGE,
                "this processor lacks the instruction set that BARCODE_ISA asks for: '%s'", forced);
        *isa = i;
        return true;
    }
    return err_set(e, ERR_USAGE, "BARCODE_ISA names no instruction set (base, avx2 or vnni): '%s'",
                   forced);
}
