#include <fontconfig/fontconfig.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "canvas_cairo.h"

static atomic_bool configured; /* fontconfig has read its configuration */

bool canvas_ready(struct err *e)
{
    atomic_store(&configured, true);
    /* Uses only fontconfig: pango would start a thread, and processes are forked later. */
    FcPattern *any = FcPatternCreate();
    FcObjectSet *family = FcObjectSetBuild(FC_FAMILY, (char *)NULL);
    FcFontSet *fonts = any && family ? FcFontList(NULL, any, family) : NULL;
    bool some = fonts && fonts->nfont > 0;
    if (fonts)
        FcFontSetDestroy(fonts);
    if (family)
        FcObjectSetDestroy(family);
    if (any)
        FcPatternDestroy(any);
    return some || err_set(e, ERR_FAILED,
                           "no font is installed, so text cannot be drawn; install one (on Debian: "
                           "fonts-dejavu-core)");
}

bool canvas_places(paint_visit *visit, void *user, struct err *e)
{
    FcStrList *list[] = {configured ? FcConfigGetConfigFiles(NULL) : NULL,
                         configured ? FcConfigGetFontDirs(NULL) : NULL,
                         configured ? FcConfigGetCacheDirs(NULL) : NULL};
    bool ok = true;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        for (FcChar8 *path; list[i] && ok && (path = FcStrListNext(list[i]));)
            ok = visit(user, (const char *)path, e);
        if (list[i])
            FcStrListDone(list[i]);
    }
    return ok;
}

/* Returns true for the names that fontconfig always gives a font. */
static bool is_generic(const char *family)
{
    static const char *const name[] = {"sans",    "sans-serif", "serif",    "monospace",
                                       "cursive", "fantasy",    "system-ui"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        if (strcasecmp(family, name[i]) == 0)
            return true;
    }
    return false;
}

/* Returns true if the font has this family, under any of its names. Copies its first name. */
static bool has_family(FcPattern *font, const char *family, char used[CANVAS_FAMILY])
{
    FcChar8 *name;
    for (int i = 0; FcPatternGetString(font, FC_FAMILY, i, &name) == FcResultMatch; i++) {
        if (i == 0)
            snprintf(used, CANVAS_FAMILY, "%s", (const char *)name);
        if (strcasecmp((const char *)name, family) == 0)
            return true;
    }
    return false;
}

bool canvas_has_font(const char *family, char used[CANVAS_FAMILY])
{
    char first[CANVAS_FAMILY];
    FcResult result;
    snprintf(first, sizeof first, "%.*s", (int)strcspn(family, ","), family);
    snprintf(used, CANVAS_FAMILY, "another font");
    FcPattern *wanted = is_generic(first) ? NULL : FcPatternCreate();
    if (!wanted)
        return true;
    FcPatternAddString(wanted, FC_FAMILY, (const FcChar8 *)first);
    FcConfigSubstitute(NULL, wanted, FcMatchPattern);
    FcDefaultSubstitute(wanted);
    FcPattern *font = FcFontMatch(NULL, wanted, &result);
    bool has = font && has_family(font, first, used);
    if (font)
        FcPatternDestroy(font);
    FcPatternDestroy(wanted);
    return has;
}
