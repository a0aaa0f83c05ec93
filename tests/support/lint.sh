#!/usr/bin/env bash
# lint.sh - the rules that a machine can check (src/CONTRIBUTING.md). Quiet when all hold.
set -u
cd "$(dirname "$0")/../.." || exit 1
shopt -s globstar
# An empty list would pass every check below.
tracked=$(git ls-files)
if [ -z "$tracked" ]; then
    echo "lint: git cannot list the files of $PWD"
    exit 1
fi
bad=0
complain() {
    echo "lint: $*"
    bad=1
}

# A line of text that begins with a dot is a macro to man: ".pdf or .html" would be lost.
while read -r line; do
    complain "src/cli/barcode.h2m:$line: begins with a dot, but is no macro"
done < <(grep -nE '^\.[a-z]{3,}' src/cli/barcode.h2m)

# Foreign headers stay in their files.
only() {  # PATTERN ALLOWED-REGEX WHAT
    local f
    while read -r f; do
        [[ $f =~ $2 ]] || complain "$f: $3 does not belong here"
    done < <(grep -lE "$1" -r src include cuda samples --include='*.c' --include='*.h' --include='*.cu' --include='*.cuh' 2>/dev/null)
}
only '#include <libav' '^(src/media/(ffmpeg|container|schedule|decode|nvdec|reader|sound|live)/)' 'a libav header'
only '#include <png\.h>' '^src/output/formats/png\.c$' 'png.h'
only '#include <microhttpd\.h>' '^src/live/serve/serve\.c$' 'a header of libmicrohttpd'
only '#include <j(peglib|error)\.h>' '^src/output/formats/jpeg\.c$' 'a header of libjpeg'
only '#include <webp/' '^src/output/formats/webp\.c$' 'a header of libwebp'
only '#include <(cairo|pango|fontconfig|glib)' '^src/output/poster/canvas_cairo\.c$' 'a header of cairo, pango or fontconfig'
only '#include <jansson\.h>' '^src/output/formats/json\.h$' 'jansson.h'
only '#include <xxhash\.h>' '^src/base/hash\.c$' 'xxhash.h'
only '#include <seccomp' '^src/base/sandbox\.c$' 'seccomp.h'
only '#include <zstd\.h>' '^src/cache/pack\.c$' 'zstd.h'
only '#include <cu(da|rand)' '^cuda/' 'a CUDA header'
only '#include <stdatomic\.h>' '^src/' 'stdatomic.h in a public header'

python3 tests/support/arrows.py || bad=1

# Private words that were replaced by FFmpeg's or the standards' do not come back: in comments or as
# parts of identifiers. Only the SIMD instruction is called gather.
words='gather|looker|torn|hurt|veiled|owed|frank|hush|shaken|aside|unfed|stand_in'
while read -r hit; do
    complain "a private word: $hit"
done < <(grep -rnwE "([A-Za-z0-9]+_)*($words)(_[A-Za-z0-9]+)*" src include cuda |
    grep -vE 'lanes_gather|i32gather_epi32')

# printf, exit and abort belong to main, cli, progress and log.
while read -r f; do
    case $f in
        src/main.c | src/cli/cli.c | src/base/progress.c | src/base/log.c) ;;
        *) complain "$f: prints or exits" ;;
    esac
done < <(grep -lE '(^|[^a-z_])(printf|puts|exit|abort|perror) *\(' -r src --include='*.c')

# Sizes, leftovers, white space.
python3 - <<'PY' || bad=1
import re, subprocess, sys
bad = False
files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.c", "*.h", "*.cu", "*.cuh", "*.sh", "*.py", "Makefile", "*.md"],
                       stdout=subprocess.PIPE, text=True, check=True).stdout.split()
for f in files:
    try:
        text = open(f).read()
    except (OSError, UnicodeDecodeError) as e:
        print(f"lint: {f}: {e}"); bad = True; continue
    lines = text.split("\n")
    code = f.endswith((".c", ".h", ".cu", ".cuh"))
    table = "A table:" in text[:2000]
    if not f.endswith((".md", "Makefile")) and len(lines) > 800 and not table:
        print(f"lint: {f}: {len(lines)} lines"); bad = True
    if f == "src/main.c" and len(lines) > 100:
        print(f"lint: {f}: {len(lines)} lines, 100 is main's limit"); bad = True
    if text and not text.endswith("\n"):
        print(f"lint: {f}: no newline at the end"); bad = True
    start = None
    for i, line in enumerate(lines, 1):
        if line != line.rstrip():
            print(f"lint: {f}:{i}: space at the end of the line"); bad = True
        if "\t" in line and code:
            print(f"lint: {f}:{i}: a tab"); bad = True
        if f != "tests/support/lint.sh" and re.search(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX)\b", line):
            print(f"lint: {f}:{i}: leftover"); bad = True
        if code and line == "{":
            start = i
        elif code and line.startswith("}") and start:
            # A flat switch is as long as it needs.
            cases = sum(bool(re.match(r" *(case\b|default:)", l)) for l in lines[start:i])
            if i - start > 60 and cases < 15:
                print(f"lint: {f}:{start}: function of {i - start} lines"); bad = True
            start = None
sys.exit(bad)
PY

# Every public header compiles alone, as C11 and as C++17.
for h in include/barcode/*/*.h; do
    printf '#include "%s"\nextern int lint;\n' "$h" | gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only -xc - || complain "$h: not C11 alone"
    echo "#include \"$h\"" | g++ -std=c++17 -Wall -Wextra -Werror -Iinclude -fsyntax-only -xc++ - || complain "$h: not C++17 alone"
done

# Every room has unit tests: at least one is named after a file of it, or after a folder of the room and the file.
while read -r room; do
    tested=
    for f in "$room"/*.c; do
        name=$(basename "$f" .c) top=$(cut -d/ -f2 <<< "$room")
        compgen -G "tests/unit/**/test_$name.c" > /dev/null ||
            compgen -G "tests/unit/**/test_$(basename "$room")_$name.c" > /dev/null ||
            compgen -G "tests/unit/**/test_${top}_$name.c" > /dev/null && tested=1
    done
    [ "$tested" ] || complain "$room has no unit test"
done < <(git ls-files -co --exclude-standard 'src/*/*.c' | xargs dirname | sort -u)
while read -r f; do
    complain "$f: not in the folder of its room (tests/README.md)"
done < <(compgen -G 'tests/unit/test_*.c')

# The top level is fixed.
while read -r f; do
    case $f in
        Makefile | README.md | SECURITY.md | LICENSE | src | cuda | include | samples | tests | out | .*) ;;
        *) complain "$f: not at the top level" ;;
    esac
done < <(cut -d/ -f1 <<< "$tracked" | sort -u)
exit $bad
