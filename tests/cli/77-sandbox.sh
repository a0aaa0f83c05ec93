# The worker processes confine themselves (sandbox.h).

need_sandbox() {
    run "$(clip vp9.webm)" --sandbox=require -q --size 16 -n 100000 -m average -o "$LOGS/tried.png"
    ! grep -q 'the kernel lacks' "$LOGS/stderr" || skip "$(cat "$LOGS/stderr")"
    [ "$STATUS" -eq 0 ] || fail "the sandbox cannot be demanded"
}

test_worker_is_confined() { # quick
    need_sandbox
    mkfifo pipe.mkv
    for choice in require auto off; do
        start pipe.mkv -q --sandbox=$choice -o p.png
        find_worker
        want=2 && [ $choice != off ] || want=0
        for _ in $(seq 100); do
            if grep -q "^Seccomp:.$want" "/proc/$worker/status"; then break; fi
            sleep 0.02
        done
        cat "/proc/$worker/status" > status
        cat "/proc/$worker/limits" > limits 2> /dev/null || true
        kill "$pid"
        wait "$pid" || true
        grep -q "^Seccomp:.$want" status || fail "Seccomp of $choice: $(grep Seccomp status)"
        [ $choice = off ] || grep -q '^NoNewPrivs:.1' status || fail "NoNewPrivs of $choice"
        # CAP_DAC_OVERRIDE, CAP_FOWNER, as far as the caller has them
        [ $choice = off ] || grep -Eq '^CapEff:.0{15}[028a]$' status || fail "$(grep Cap status)"
        [ $choice = off ] || [ ! -s limits ] || grep -Eq '^Max core file size +0 +0 ' limits || fail "core: $(cat limits)"
    done
}

# refused_in_workers WORD...: runs the program of each kind behind these words. A worker of each tries what sandbox_attempts.h has, is
# refused all of it, and does its work all the same.
refused_in_workers() {
    local kind arguments
    for kind in batch find align live; do
        case $kind in
            batch) arguments=(films -j 2 -n 5 -m average --engine cpu --no-cache -o out/ --csv out/t.csv --report out/report) ;;
            find) arguments=(find films/b.mkv films/a.mkv --no-cache) ;;
            align) arguments=(align films/a.mkv films/b.mkv --no-cache) ;;
            live) arguments=(--live=60 sky -o out -m average --engine cpu) ;;
        esac
        rm -rf out attempts
        mkdir -m 777 out attempts
        mkdir -m 777 attempts/in attempts/out attempts/sub
        touch attempts/in/other attempts/out/old
        chmod 666 attempts/*/*
        ln -s "$PWD/films/a.mkv" attempts/in/film
        COMMAND="$* barcode ${arguments[*]}" STATUS=
        "$@" env TRIED_CALLS="$PWD/attempts" LD_PRELOAD="$PWD/tried-calls.so" "$PWD/barcode" "${arguments[@]}" -v --sandbox=require \
            > "$LOGS/stdout" 2> "$LOGS/stderr" < /dev/null 200< attempts/in/other &
        pid=$!
        [ $kind != live ] || until_says ': connected$'
        [ $kind != live ] || kill -TERM $pid
        STATUS=0
        wait $pid || STATUS=$?
        says '^tried in [1-9][0-9]* processes$'
        says_not '^not \|worker process'
        [ $kind = find ] || [ "$STATUS" -eq 0 ] || fail "exit status $STATUS"
    done
}

# Films, pictures, the program and the library in a folder that other users reach.
with_everybody() {
    need_sandbox
    everybody=$(mktemp -d /tmp/barcode-everybody.XXXXXX)
    trap 'rm -rf "$everybody"' EXIT
    cp "$BARCODE" "$TRIED_CALLS_SO" "$everybody"
    cd "$everybody" || return 1
    mkdir films sky
    ffmpeg -nostdin -v error -f lavfi -i color=s=64x36:r=5 -f lavfi -i "aevalsrc='0.3*sin(2*PI*t*(300+2500*abs(sin(floor(t/0.15)*12.9898))))':s=16000" \
        -t 40 -c:v mpeg4 -c:a ac3 films/a.mkv
    cp films/a.mkv films/b.mkv
    ffmpeg -nostdin -v error -i films/a.mkv -frames:v 1 sky/a.png
    chmod -R a+rX .
    chmod 777 .
}

# What a hostile film could try in its worker, whoever runs it.
test_calls_are_refused_in_workers() {
    with_everybody
    refused_in_workers
    [ "$(id -u)" -ne 0 ] || refused_in_workers setpriv --reuid 65534 --regid 65534 --clear-groups
}

test_calls_are_refused_without_proc() {
    with_everybody
    without_proc
    refused_in_workers "${no_proc[@]}"
    [ "$(id -u)" -ne 0 ] || refused_in_workers "${no_proc[@]}" setpriv --reuid 65534 --regid 65534 --clear-groups
}

# made_outputs FOLDER OPTION...: each kind of output of two films, without what differs from run to run.
# shellcheck disable=SC2103
made_outputs() {
    mkdir "$1"
    cd "$1" || return 1
    shift
    ok ../a.mkv ../b.webm -n 10 --cache cache -m all -o p/ --html g/index.html --json j/ --csv c/ --swatches s/ --thumbnails t/ \
        --dump d/ --report report "$@"
    ok ../a.mkv ../b.webm -n 10 --cache cache --poster=pdf -o q/ "$@"
    sed -E -i '/^"stages":/s/:[0-9.]+/:0/g' j/*
    sed -E -i 's/"(seconds|finished)":[^,}]*//g' report
    sort -o report report
    find cache -name '*.frames' -printf '%f\n' | sort > entries
    rm -r cache      # entries hold their own time
    cd ..
}

test_outputs_are_the_same_confined() {
    need_sandbox
    copy_clips a.mkv h264-open.mkv b.webm vp9.webm
    made_outputs off --sandbox=off
    made_outputs on --sandbox=require
    diff -r off on || fail "the sandbox changes outputs"
    made_outputs one --sandbox=require -j 1
    diff -r off one || fail "the sandbox changes outputs of one film after another"
}

# opened TRACE: what the only worker opened after it confined itself, without what may be opened.
opened() {
    "$PYTHON" - "$1" << 'END'
import os, re, sys
parent, confined, waiting, calls = None, False, {}, 0
allowed = ("/usr/", "/lib", "/etc/", "/proc/", "/sys/", "/var/cache/fontconfig", "/dev/null", "/dev/urandom", "/dev/nvidia")
here = os.getcwd()
own = [os.path.join(here, "cache")]
for line in open(sys.argv[1], errors="replace"):
    pid, _, call = line.strip().partition(" ")
    parent = parent or pid
    call = call.strip()
    if call.endswith("<unfinished ...>"):
        waiting[pid] = call[:-len("<unfinished ...>")]
        continue
    resumed = re.match(r"<\.\.\. \w+ resumed>", call)
    if resumed:
        call = waiting.pop(pid, "") + call[resumed.end():]
    if call.startswith("landlock_restrict_self") and call.endswith("= 0"):
        confined = True
    found = re.match(r'(?:open|openat|creat|mkdir|unlink|rename)\((?:AT_FDCWD, )?"([^"]*)".*= \d+$', call)
    if found and confined and pid != parent:
        calls += 1
        path = os.path.normpath(os.path.join(here, found.group(1)))
        if not path.startswith(allowed) and not any(path == o or path.startswith(o + "/") for o in own):
            print(call)
if calls < 10:
    print(f"{calls} calls of confined processes")
END
}

test_opens_nothing_else() {
    need_sandbox
    command -v strace > /dev/null || skip "no strace"
    strace -o "$LOGS/tried" true 2> /dev/null || skip "strace may not trace"
    cp "$(clip h264-open.mkv)" film.mkv
    mkdir out
    logged strace -f -o "$LOGS/trace" -e trace='%file,%network,%process,/landlock' "$BARCODE" film.mkv -n 10 -q --cache cache -m all \
        -o out/p.png --html out/p.html --json out/p.json --csv out/p.csv --swatches out/p.gpl --thumbnails out/t/ --dump out/p.rgb \
        --shot-list out/p.edl --shot-list out/p.otio
    [ "$STATUS" -ne 1 ] || fail "it failed"
    opened "$LOGS/trace" > others
    [ ! -s others ] || fail "$(cat others)"
    ! grep -E '^[0-9]+ +(socket|connect|bind)\(' "$LOGS/trace" || fail "a socket"
}

# A film that has another file's name in it; what the film's own folder has is no matter of the sandbox.
test_another_film_stays_unread() {
    need_sandbox
    mkdir films private
    cp "$(clip h264-closed.ts)" private/seg.ts
    printf '#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n%s\n#EXT-X-ENDLIST\n' "$PWD/private/seg.ts" > films/holiday.mp4
    run films/holiday.mp4 -o p.png
    [ "$STATUS" -ne 0 ] || fail "it was read"
    files films films/holiday.mp4 private private/seg.ts
}

# Folders are made with the first output in them.
test_sandbox_leaves_no_folders() { # quick
    echo no film > a.mkv
    exits 3 a.mkv -o pictures/ --json j/ --dump d/ --no-cache
    files a.mkv
    cp "$(clip vp9.webm)" b.webm
    run a.mkv b.webm -o pictures/ -q --size 16 -m average --name '{stem}'
    files a.mkv b.webm pictures pictures/b.png
}

# A link as an output leads to the folder of the file that it names.
test_sandbox_and_links() {
    need_sandbox
    mkdir films pictures
    cp "$(clip vp9.webm)" films/b.webm
    ln -s films/b.webm film.webm
    echo old > pictures/p.png
    ln -s pictures/p.png link.png
    ok film.webm --size 16 -m average -o link.png --sandbox=require
    [ -L link.png ] || fail "the link is gone"
    ln -s pictures/new.png dangling.png
    ok film.webm --size 16 -m average -o dangling.png --sandbox=require
    { [ -L dangling.png ] && [ -f pictures/new.png ]; } || fail "the link is gone"
    [ "$(head -c 4 pictures/p.png | tail -c 3)" = PNG ] || fail "its target is old"
}

# Pictures have the fonts of fontconfig's configuration, wherever they are.
test_sandbox_and_fonts() {
    need_sandbox
    font=$(fc-match -f '%{file}' 'DejaVu Serif:bold') || skip "no fc-match"
    mkdir fonts pictures
    cp "$font" fonts/
    echo "<fontconfig><dir>$PWD/fonts</dir><cachedir>$PWD/kept</cachedir></fontconfig>" > fonts.conf
    cp "$(clip vp9.webm)" b.webm
    for choice in off require; do
        FONTCONFIG_FILE=$PWD/fonts.conf ok b.webm -n 10 --poster -m average --no-cache -o pictures/$choice.png --sandbox=$choice
        FONTCONFIG_FILE=$PWD/fonts.conf ok b.webm -n 10 -m all --no-cache -o pictures/$choice-all.png --sandbox=$choice
    done
    cmp pictures/off.png pictures/require.png || fail "the sandbox changes the letters of a poster"
    cmp pictures/off-all.png pictures/require-all.png || fail "the sandbox changes labels"
}

# A dump to an open file is written to $TMPDIR first.
test_sandbox_and_descriptors() {
    need_sandbox
    mkdir scratch
    cp "$(clip vp9.webm)" b.webm
    set -- /dev/fd/3 -n 10 --size 16 -m average
    TMPDIR=scratch ok "$@" -o plain.png --dump plain.rgb --sandbox=off 3< b.webm
    for choice in off require; do
        TMPDIR=scratch ok b.webm "${@:2}" -o p.png --dump /dev/fd/3 --sandbox=$choice 3> dump.rgb
        cmp plain.rgb dump.rgb || fail "another dump with --sandbox=$choice"
        TMPDIR=scratch ok "$@" -o /dev/fd/4 --sandbox=$choice 3< b.webm 4> out.png
        cmp plain.png out.png || fail "another picture with --sandbox=$choice"
    done
}

# A film that is rendered again in the same process finds its own outputs, which it may not read.
test_sandbox_and_memory() {
    need_sandbox
    cp "$(clip h264-open.mkv)" a.mkv
    cp a.mkv b.mkv
    set -- a.mkv b.mkv -j 2 -n 20 -m all --thumbnails t/ --html p/ -o p/ --sandbox=require --no-cache
    ok "$@"
    cp -r p good
    cp -r t good-t
    rm -r p t
    # what was freed has other bytes then
    MALLOC_PERTURB_=165 LIMIT=60 LD_PRELOAD=$REFUSED_MEMORY_SO ok "$@" -v
    # of the film that writes, or of the other one that is decoded beside it
    says "out of memory: .*; rendering it again, alone"
    diff -r good p
    diff -r good-t t
    # libpng, which wants 64 KiB, is refused them: memory ran out, whoever wanted it
    LD_PRELOAD=$REFUSED_MEMORY_SO run a.mkv -n 20 -m average,squeeze -o l.png --no-cache
    says "cannot write 'l-squeeze.png': out of memory: [0-9]* bytes requested"
    # alone it would only fail again
    LD_PRELOAD=$REFUSED_MEMORY_SO exits 1 a.mkv -n 20 -m all --html q/ -o q/ --no-cache -v
    says_not "rendering it again"
}

# A worker that may not confine itself renders nothing when that is demanded.
test_sandbox_required() {
    refuses 2 film.mkv --sandbox=yes
    says "--sandbox: 'yes' is not auto, require or off"
    cp "$(clip vp9.webm)" b.webm
    cat > no-landlock.py << 'END'
import ctypes, os, struct, sys
# A filter of system calls without Landlock, as of an older kernel: ENOSYS for its first call.
code = struct.pack("HBBI" * 4, 0x20, 0, 0, 0, 0x15, 0, 1, 444, 0x06, 0, 0, 0x00050000 | 38, 0x06, 0, 0, 0x7fff0000)
keep = ctypes.create_string_buffer(code, len(code))
class Program(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
libc = ctypes.CDLL(None, use_errno=True)
program = Program(4, ctypes.addressof(keep))
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(program)):
    sys.exit(77)
os.execv(sys.argv[1], sys.argv[1:])
END
    "$PYTHON" no-landlock.py /bin/true || skip "no filter of system calls"
    logged "$PYTHON" no-landlock.py "$BARCODE" b.webm --sandbox=require -m average --size 16
    was 1
    one_sentence
    says "--sandbox=require: the kernel lacks Landlock, which needs"
    files b.webm no-landlock.py
    logged "$PYTHON" no-landlock.py "$BARCODE" b.webm -v -m average --size 16 -o p.png
    was 0
    says "the sandbox is incomplete: the kernel lacks Landlock"
    [ "$(grep -c sandbox "$LOGS/stderr")" -eq 1 ] || fail "said more than once"
}
