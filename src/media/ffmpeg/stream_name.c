#include "stream_name.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"

/* The parts of a URL. */
struct url {
    const char *host, *path, *query; /* each ends where the next begins; the query at the end */
    const char *user, *user_end;     /* all of it is secret; NULL: none */
    bool unclear;                    /* `user` is all that follows the host */
    bool is_rtmp;
    char fault; /* stream_name_fault */
};

static bool is_word(char c) { return isalnum((unsigned char)c); }

/* Returns where the scheme begins that ends at `end`: letters, digits, '+', '-' and '.'. */
static const char *scheme_of(const char *text, const char *end)
{
    while (end > text && (is_word(end[-1]) || strchr("+-.", end[-1])))
        end--;
    return end;
}

/* Returns true for a host and a port, such as "h:80". */
static bool ends_in_port(const char *text, size_t length)
{
    const char *colon = memrchr(text, ':', length);
    size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;
    return digits > 0 && colon + 1 + digits == text + length;
}

static bool split(const char *name, struct url *u)
{
    const char *scheme_end = strstr(name, "://");
    if (!scheme_end)
        return false;
    const char *rest = scheme_end + 3, *end = rest + strcspn(rest, "/?#");
    const char *last = strrchr(rest, '@'), *colon = memchr(rest, ':', (size_t)(end - rest));
    const bool is_fragment = *end == '#'; /* a stream has none: it is the password's */
    const bool has_user = memchr(rest, '@', (size_t)(end - rest)),
               is_late = last > end && (has_user || is_fragment || (colon && *rest != '['));
    *u = (struct url){.host = rest, .is_rtmp = strncasecmp(name, "rtmp", 4) == 0};
    u->unclear = is_late && !is_fragment && (has_user || ends_in_port(rest, (size_t)(end - rest)));
    if (u->unclear) {
        u->path = u->query = u->user = has_user ? rest : colon;
        u->user_end = rest + strlen(rest);
        return true;
    }
    if (is_late)
        u->fault = *end;
    if (is_late || has_user) {
        u->user = rest;
        u->user_end = last < end || is_late ? last : memrchr(rest, '@', (size_t)(end - rest));
        u->host = u->user_end + 1;
    }
    u->path = u->host + strcspn(u->host, "/?#");
    u->query = u->path + strcspn(u->path, "?#");
    return true;
}

static size_t component_length(const char *text) { return strcspn(text, "/?#"); }

/* Returns true for the component of a path that may hold secrets. */
static bool is_secret(const struct url *u, const char *component)
{
    size_t length = component_length(component);
    bool is_application = component == u->path + 1;
    return (u->is_rtmp && !is_application && length > 0) || memchr(component, '=', length);
}

/* ---- The shown name ---- */

static void append(char shown[STREAM_NAME], const char *text, size_t length)
{
    size_t used = strlen(shown);
    snprintf(shown + used, STREAM_NAME - used, "%.*s", (int)length, text);
}

static void append_digest(char shown[STREAM_NAME], const char *text, size_t length)
{
    char digest[8];
    snprintf(digest, sizeof digest, "*%04x", (unsigned)(hash_64(text, length) & 0xffff));
    append(shown, digest, strlen(digest));
}

/* Appends the parameters of a component that choose a channel. */
static void append_channel(char shown[STREAM_NAME], const char *text, size_t length)
{
    static const char *const kept[] = {"channel=", "stream=", "subtype="};
    const char *end = text + length, *between = "";
    for (size_t one; text < end; text += one + 1) {
        one = strcspn(text, "&_;,/?#");
        for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
            size_t name = strlen(kept[i]);
            if (one > name && one <= name + 6 && strncasecmp(text, kept[i], name) == 0) {
                append(shown, between, strlen(between));
                append(shown, text, one);
                between = "&";
            }
        }
    }
}

void stream_name_show(const char *name, char shown[STREAM_NAME])
{
    struct url u;
    shown[0] = 0;
    if (!split(name, &u)) {
        append(shown, name, strlen(name));
        return;
    }
    const char *scheme = scheme_of(name, strstr(name, "://"));
    append(shown, scheme, (size_t)(strstr(scheme, "://") + 3 - scheme));
    append(shown, u.host, (size_t)(u.path - u.host));
    if (u.unclear) {
        append(shown, "/", 1);
        append_digest(shown, u.user, (size_t)(u.user_end - u.user));
    }
    for (const char *at = u.path; at < u.query; at += 1 + component_length(at + 1)) {
        append(shown, "/", 1);
        if (memchr(at + 1, '=', component_length(at + 1))) {
            append_channel(shown, at + 1, component_length(at + 1));
        } else if (is_secret(&u, at + 1)) {
            append_digest(shown, at + 1, (size_t)(u.query - at - 1));
            break;
        } else {
            append(shown, at + 1, component_length(at + 1));
        }
    }
}

char stream_name_fault(const char *name)
{
    struct url u;
    return split(name, &u) ? u.fault : 0;
}

/* ---- Secrets in lines ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the following */
static char **secret; /* longer ones first, which may contain others */
static size_t secrets, room;

static void percent_decode(char *text)
{
    char *to = text;
    for (; *text; text++) {
        char digit[3] = {text[1], text[1] ? text[2] : 0, 0};
        bool is_code = *text == '%' && isxdigit((unsigned char)digit[0]) &&
                       isxdigit((unsigned char)digit[1]) && strcmp(digit, "00") != 0;
        *to++ = is_code ? (char)strtoul(digit, NULL, 16) : *text;
        text += is_code ? 2 : 0;
    }
    *to = 0;
}

static bool add_secret(const char *word, size_t length, bool decoded, struct err *e)
{
    char *text = strndup(word, length);
    if (text && decoded)
        percent_decode(text);
    for (size_t i = 0; text && i < secrets; i++)
        if (strcmp(secret[i], text) == 0) {
            free(text);
            return true;
        }
    if (!text || !err_reserve(&secret, secrets + 1, &room, sizeof *secret, e)) {
        free(text);
        return err_memory(e, length);
    }
    size_t i = secrets++;
    for (; i > 0 && strlen(secret[i - 1]) < strlen(text); i--)
        secret[i] = secret[i - 1];
    secret[i] = text;
    return true;
}

/* Adds the words between delimiters that have `least` characters, but no names of parameters. */
static bool add_words(const char *text, const char *end, size_t least, struct err *e)
{
    bool ok = true;
    for (size_t length; ok && text < end; text += length + 1) {
        length = strcspn(text, "/?#&=:@;,_");
        if (text + length > end)
            length = (size_t)(end - text);
        if (length < least || length == 0 || (least > 1 && text[length] == '='))
            continue;
        ok = add_secret(text, length, false, e) && add_secret(text, length, true, e);
    }
    return ok;
}

bool stream_name_remember(const char *name, struct err *e)
{
    const size_t least = 4; /* shorter words of a path and query are numbers and flags */
    struct url u;
    if (!split(name, &u))
        return true;
    pthread_mutex_lock(&lock);
    bool ok = !u.user || add_words(u.user, u.user_end, 1, e);
    for (const char *at = u.path; ok && at < u.query; at += 1 + component_length(at + 1))
        ok = !is_secret(&u, at + 1) ||
             add_words(at + 1, at + 1 + component_length(at + 1), least, e);
    ok = ok && add_words(u.query, u.query + strlen(u.query), least, e);
    pthread_mutex_unlock(&lock);
    return ok;
}

/* Replaces `length` bytes at `at`. Returns what follows the new text. */
static char *replace(char *line, size_t size, char *at, size_t length, const char *text)
{
    size_t left = size - (size_t)(at - line), put = strlen(text), rest = strlen(at + length);
    if (put >= left) {
        *at = 0;
        return at;
    }
    rest = rest < left - put - 1 ? rest : left - put - 1;
    memmove(at + put, at + length, rest);
    memcpy(at, text, put);
    at[put + rest] = 0;
    return at + put;
}

static void hide_secret(char *line, size_t size, const char *text)
{
    size_t length = strlen(text);
    char *at = line;
    while ((at = strstr(at, text))) {
        bool inside = (at > line && is_word(at[-1]) && is_word(text[0])) ||
                      (is_word(text[length - 1]) && is_word(at[length]));
        at = inside ? at + 1 : replace(line, size, at, length, "***");
    }
}

static void hide_urls(char *line, size_t size)
{
    char *at = line;
    while ((at = strstr(at, "://"))) {
        char shown[STREAM_NAME], *begin = line + (scheme_of(line, at) - line);
        size_t length = strcspn(begin, " \t\r\n\"'");
        const char after = begin[length];
        begin[length] = 0;
        stream_name_show(begin, shown);
        begin[length] = after;
        at = replace(line, size, begin, length, shown);
    }
}

void stream_name_hide(char *line, size_t size)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < secrets; i++)
        hide_secret(line, size, secret[i]);
    pthread_mutex_unlock(&lock);
    hide_urls(line, size);
}
