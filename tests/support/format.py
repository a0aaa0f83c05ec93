#!/usr/bin/env python3
"""format.py [--check] REV - clang-format on the lines that were changed since REV, committed or not; --all: on every line.

Taken over is what clang-format says of the indentation of statements, of braces and of spaces that are missing or too many
between two tokens. The rest is the author's: where a line ends and how it goes on inside brackets, how wide a gap is before a
comment or in a table, and preprocessor directives. --check changes nothing, says where something is to be done, and exits
with 1.
"""
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

CODE = ["*.c", "*.h", "*.cu", "*.cuh", "*.cc"]
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|\w+|\S', re.S)


def git(*arguments):
    return subprocess.run(["git", *arguments], stdout=subprocess.PIPE, text=True, check=True).stdout


def changed_lines(since):
    """{file: the options that name its changed lines}"""
    lines, path = {}, None
    for line in git("diff", "-U0", "--no-color", "--no-ext-diff", "--diff-filter=d", since, "--", *CODE).split("\n"):
        if line.startswith("+++ b/"):
            path = line[len("+++ b/"):]
        hunk = re.match(r"@@ \S+ \+(\d+),?(\d*) @@", line)
        if hunk and hunk.group(2) != "0":
            first = int(hunk.group(1))
            lines.setdefault(path, []).append(f"--lines={first}:{first + int(hunk.group(2) or 1) - 1}")
    return lines | {path: [] for path in git("ls-files", "-o", "--exclude-standard", *CODE).split()}


def inside_brackets(text):
    """[i]: is the gap at i in parentheses, in square brackets or in the braces of a list?"""
    inside, opened, before, at = bytearray(len(text) + 1), [], ["", ""], 0
    for match in TOKEN.finditer(text):
        token, start = match.group(), match.start()
        inside[at:start] = bytes([any(opened)]) * (start - at)
        inside[start] = any(opened)
        if token in ("(", "["):
            opened.append(True)
        elif token == "{":
            literal = text[start - 1] == ")"
            in_list = before[1] == "{" and any(opened)
            opened.append(literal or in_list or before[0] == "enum" or
                          before[1] in ("=", ",", "(", "return", "enum", "struct"))
        elif token in (")", "]", "}") and opened:
            opened.pop()
        at = match.end()
        if not token.startswith(("/*", "//")):
            before = [before[1], token]
    return inside


def wanted(text, at, end, new, inside):
    old, line = text[at:end], text[text.rfind("\n", 0, at) + 1:at]
    before, after = text[at - 1], text[end]
    if line.lstrip().startswith("#") or "\\" in old:
        return False
    if "\n" in old and "\n" in new:
        return not inside and after not in "?:"
    if "\n" in old or "\n" in new:
        return not inside and (before in "{}" or after in "{}")
    # clang-format 14 takes some casts for calls; in the head of a loop that lacks a part both ways are in use.
    return (not old or not new) and not (before == ")" and after in "\"~") and not (before == ";" and after in ";)")


def format_file(path, lines, check):
    """Whether there is something to be done."""
    with open(path, encoding="latin-1", newline="") as f:      # clang-format counts bytes
        text = f.read()
    command = ["clang-format", "--style=file", "--output-replacements-xml", *lines, path]
    found = ElementTree.fromstring(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    inside, done, where = inside_brackets(text), text, set()
    for r in reversed(found.findall("replacement")):
        at, new = int(r.get("offset")), r.text or ""
        end = at + int(r.get("length"))
        if wanted(text, at, end, new, inside[at]):
            done = done[:at] + new + done[end:]
            where.add(text.count("\n", 0, end) + 1)
    if check:
        print("".join(f"format: {path}:{line}: not as clang-format has it; make format\n" for line in sorted(where)), end="")
    elif where:
        with open(path, "w", encoding="latin-1", newline="") as f:
            f.write(done)
    return bool(where)


def main():
    check, what = "--check" in sys.argv, sys.argv[-1]
    files = {path: [] for path in git("ls-files", *CODE).split()} if what == "--all" else changed_lines(what)
    todo = [path for path, lines in sorted(files.items()) if format_file(path, lines, check)]
    sys.exit(bool(check and todo))


main()
