#include "open.h"

#include <errno.h>
#include <libavutil/avstring.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/path.h"
#include "container_quirks.h"
#include "film_input.h"
#include "playlists.h"

/* ------------------------------------------------------------------ playlists */

enum { LISTS_MOST = 4 << 20 };

#define CONCAT "ffconcat version 1.0"

struct kind {
    const char *demuxer; /* one of its names */
    const char *endings; /* of the names of such playlists */
    const char *begin;   /* of the text */
    /* returns the file that a line names, which the caller frees with av_free, or NULL */
    char *(*entry)(const char *line);
    bool (*ends)(const char *text);      /* returns false for a live playlist; NULL: all end */
    bool (*encrypted)(const char *text); /* NULL: none is */
    bool names_lists;                    /* an entry may be another playlist of this kind */
};

static bool has_line(const char *text, const char *begin)
{
    size_t size = strlen(begin);
    for (const char *at = text; (at = strstr(at, begin)); at += size)
        if (at == text || at[-1] == '\n')
            return true;
    return false;
}

/* A master playlist, which names others, needs no end. */
static bool hls_ends(const char *text)
{
    return has_line(text, "#EXT-X-ENDLIST") ||
           (has_line(text, "#EXT-X-STREAM-INF") && !has_line(text, "#EXTINF"));
}

/* Segments with METHOD=NONE are not encrypted. */
static bool hls_is_encrypted(const char *text)
{
    static const char key[] = "#EXT-X-KEY:", none[] = "METHOD=NONE";
    for (const char *at = text; (at = strstr(at, key)); at += sizeof key - 1) {
        const char *method = strstr(at, "METHOD=");
        if (method && method < at + strcspn(at, "\n") && !av_strstart(method, none, NULL))
            return true;
    }
    return false;
}

static char *hls_entry(const char *line)
{
    const char *quoted = line[0] == '#' ? strstr(line, "URI=\"") : NULL;
    if (line[0] == '#')
        return quoted ? av_strndup(quoted + 5, strcspn(quoted + 5, "\"")) : NULL;
    return line[0] ? av_strdup(line) : NULL;
}

static char *ffconcat_entry(const char *line)
{
    line += strspn(line, " \t");
    if (!av_strstart(line, "file", &line) || (*line != ' ' && *line != '\t'))
        return NULL;
    line += strspn(line, " \t");
    return av_get_token(&line, " \t");
}

/* Those that can be kept to one folder: "dash" and "imf" open files by themselves. */
static const struct kind kinds[] = {
    {"hls", "m3u8,m3u", "#EXTM3U", hls_entry, hls_ends, hls_is_encrypted, true},
    {"concat", "ffconcat", CONCAT, ffconcat_entry, NULL, NULL, false},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static bool any_name;

void playlists_allow(void) { any_name = true; }

/* Returns true if a file may be a playlist of a kind. */
static bool may_be(const char *path, const struct kind *kind)
{
    return file_is_regular(path) && file_descriptor(path) < 0 &&
           (any_name || av_match_ext(path, kind->endings));
}

bool playlists_may_be(const char *path)
{
    for (int k = 0; k < KINDS; k++)
        if (may_be(path, &kinds[k]))
            return true;
    return false;
}

bool playlists_is_concat(const char *path)
{
    char head[64] = "";
    return playlists_may_be(path) && file_read_begin(path, head, sizeof head - 1) > 0 &&
           strncmp(head, CONCAT, strlen(CONCAT)) == 0;
}

/* Returns true if `path` lies in `folder` or below it. Both are absolute and without links. */
static bool is_below(const char *path, const char *folder)
{
    return av_strstart(path, folder, &path) && (*path == '/' || strcmp(folder, "/") == 0);
}

char *playlists_file(const char *playlist, const char *file)
{
    av_strstart(playlist, "file:", &playlist);
    av_strstart(file, "file:", &file);
    char *beside = path_beside(playlist, ".", NULL);
    char *folder = beside ? realpath(beside, NULL) : NULL;
    char *found = folder ? realpath(file, NULL) : NULL;
    int code = found ? EPERM : errno;
    if (found && (!is_below(found, folder) || !file_is_regular(found))) {
        free(found);
        found = NULL;
    }
    free(folder);
    free(beside);
    errno = code;
    return found;
}

/* The check of a playlist and of those that it names. */
struct check {
    const char *path;
    const struct kind *kind;
    size_t left; /* how many bytes they may still have */
};

/* Returns the text of a list, its lines ended by '\n' alone, for the caller to free, or NULL. */
static char *read_lines(struct check *c, const char *list, struct err *e)
{
    FILE *f = file_open_regular(list);
    char *text = f ? malloc(c->left + 1) : NULL;
    size_t size = text ? fread(text, 1, c->left + 1, f) : 0;
    if (!f)
        err_set(e, ERR_INPUT, "cannot open '%s': %s", list, strerror(errno));
    else if (!text)
        err_memory(e, c->left + 1);
    else if (ferror(f))
        err_set(e, ERR_FAILED, "cannot read '%s': %s", list, strerror(errno));
    else if (size > c->left)
        err_set(e, ERR_INPUT, "'%s' is too large for a playlist", c->path);
    if (f)
        fclose(f);
    if (!text || e->code != ERR_NONE) {
        free(text);
        return NULL;
    }
    for (size_t i = 0; i < size; i++)
        if (text[i] == '\r' || text[i] == 0)
            text[i] = '\n';
    text[size] = 0;
    c->left -= size;
    return text;
}

/* Returns the kind of playlist that a file is by its first bytes, or NULL. */
static const struct kind *kind_of_file(const char *path)
{
    char head[21] = "";
    file_read_begin(path, head, sizeof head - 1);
    for (int k = 0; k < KINDS; k++)
        if (av_strstart(head, kinds[k].begin, NULL))
            return &kinds[k];
    return NULL;
}

/* Returns true for an absolute path, a URL with a protocol, and a path with "..". */
static bool leads_out(const char *entry)
{
    const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.,";
    bool out = entry[0] == '/' || entry[strspn(entry, letters)] == ':';
    for (const char *part = entry; part && !out; part = strchr(part, '/'))
        out = strspn(part += *part == '/', ".") == 2 && (part[2] == '/' || part[2] == 0);
    return out;
}

static bool check_list(struct check *c, const char *list, bool nested, struct err *e);

/* Checks what an entry of `list` names, which is the playlist itself or `nested`: named by it. */
static bool check_entry(struct check *c, const char *list, const char *entry, bool nested,
                        struct err *e)
{
    char *beside = path_beside(list, entry, e);
    bool out = leads_out(entry);
    char *file = beside && !out ? playlists_file(c->path, beside) : NULL;
    out = out || (beside && !file && errno == EPERM);
    const struct kind *found = file ? kind_of_file(file) : NULL;
    bool ok = beside != NULL; /* libavformat reports a missing file */
    if (ok && out)
        ok = err_set(e, ERR_INPUT,
                     "'%s' is a playlist that names '%s': only relative names of files in its "
                     "folder or below it are read",
                     c->path, entry);
    else if (found && (nested || found != c->kind || !found->names_lists))
        ok = err_set(e, ERR_INPUT, "'%s' is a playlist that names another one, '%s'", c->path,
                     entry);
    else if (found)
        ok = check_list(c, beside, true, e);
    free(file);
    free(beside);
    return ok;
}

static bool check_list(struct check *c, const char *list, bool nested, struct err *e)
{
    char *text = read_lines(c, list, e);
    if (!text)
        return false;
    bool ok = true;
    if (c->kind->ends && !c->kind->ends(text))
        ok = err_set(e, ERR_INPUT, "'%s' is a live playlist: it has no end", c->path);
    if (ok && c->kind->encrypted && c->kind->encrypted(text))
        ok = err_set(e, ERR_INPUT, "'%s' is encrypted", c->path);
    for (char *line = text, *next; ok && line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        for (size_t size = strlen(line); size > 0 && strchr(" \t", line[size - 1]); size--)
            line[size - 1] = 0;
        char *entry = c->kind->entry(line);
        if (interrupted())
            ok = interrupt_error(e);
        else if (entry)
            ok = check_entry(c, list, entry, nested, e);
        av_free(entry);
    }
    free(text);
    return ok;
}

const AVInputFormat *playlist_demuxer(const char *path)
{
    const struct kind *kind = kind_of_file(path);
    return kind ? av_find_input_format(kind->demuxer) : NULL;
}

bool playlist_check(const char *path, const AVInputFormat *demuxer, struct err *e)
{
    const struct kind *kind = NULL;
    for (int k = 0; k < KINDS && !kind; k++)
        if (av_match_name(kinds[k].demuxer, demuxer->name))
            kind = &kinds[k];
    if (!kind)
        return err_set(e, ERR_INPUT,
                       "'%s' is a playlist (%s), not a film; playlists of this kind are not read",
                       path, demuxer->name);
    if (any_name && !may_be(path, kind))
        return err_set(e, ERR_INPUT, "'%s' is a playlist; give the name of its file", path);
    if (!may_be(path, kind))
        return err_set(e, ERR_INPUT,
                       "'%s' is a playlist, not a film (use --playlists to read the files that it "
                       "names)",
                       path);
    struct check c = {.path = path, .kind = kind, .left = LISTS_MOST};
    return check_list(&c, path, false, e);
}

/* ------------------------------------------------------------------ demuxers and files */

static char *names; /* NULL if out of memory */

static void list_names(void)
{
    size_t size = 0;
    void *next = NULL;
    FILE *f = open_memstream(&names, &size);
    for (const AVInputFormat *d; f && (d = av_demuxer_iterate(&next));) {
        const struct container_quirks *quirks = container_quirks_of(d);
        /* AVFMT_NOFILE: it opens what it reads by itself, such as a device */
        if (!quirks->is_playlist && !quirks->names_sources && !(d->flags & AVFMT_NOFILE))
            fprintf(f, "%s%s", ftell(f) > 0 ? "," : "", d->name);
    }
    if (f && fclose(f) != 0) {
        free(names);
        names = NULL;
    }
}

const char *allowed_names(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, list_names);
    return names ? names : "none";
}

int allowed_demuxers(AVFormatContext *format, const char *more)
{
    char *all = av_asprintf("%s%s%s", allowed_names(), *more ? "," : "", more);
    int code = all ? av_opt_set(format, "format_whitelist", all, 0) : AVERROR(ENOMEM);
    av_free(all);
    return code;
}

/* Returns why a film cannot be opened by its name. */
static int refusal_errno(const char *path)
{
    struct stat s;
    if (stat(path, &s) != 0)
        return errno;
    return S_ISDIR(s.st_mode) ? EISDIR : EPERM;
}

int allowed_open(AVFormatContext *format, AVIOContext **file, const char *url, int flags,
                 AVDictionary **options)
{
    (void)options;
    const char *name = url;
    av_strstart(url, "file:", &name);
    bool list = format->iformat && container_quirks(format)->is_playlist && format->pb;
    if (!list || flags & AVIO_FLAG_WRITE)
        return AVERROR(strcmp(url, format->url) == 0 ? refusal_errno(name) : EPERM);
    char *found = playlists_file(format->url, url);
    int error = film_input_open_beside(format->pb, found, name, file);
    free(found);
    return AVERROR(error);
}

int allowed_close(AVFormatContext *format, AVIOContext *file)
{
    (void)format;
    film_input_close(&file);
    return 0;
}
