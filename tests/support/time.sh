# shellcheck shell=bash
# time.sh - what the cases about length and time share (tests/cli/42-time.sh, 43-clock.sh).
# shellcheck disable=SC2154  # variables come from lib.sh

FF="ffmpeg -nostdin -v error -y"

# base NAME SECONDS [OPTION...]: H.264 of 24 fps with a key frame a second.
base() {
    local name=$1 seconds=$2
    shift 2
    $FF -f lavfi -i "testsrc2=s=96x64:r=24:d=$seconds" -c:v libx264 -preset veryfast -g 24 \
        -pix_fmt yuv420p "$@" "$name" || skip "this ffmpeg makes no $name"
}

# vfr NAME OPTION...: 30 s, 3 of 10 frames.
vfr() {
    local name=$1
    shift
    $FF -f lavfi -i testsrc2=s=96x64:r=24:d=30 -vf "select='lt(mod(n,10),3)'" -fps_mode vfr -g 24 \
        -pix_fmt yuv420p "$@" "$name" || skip "this ffmpeg makes no $name"
}

# judged FILM: what j.json says of it, and the warnings, against ffprobe.
judged() {
    "$PYTHON" "$HERE/../time_judge.py" "$1" j.json "$LOGS/stderr" ||
        fail "$COMMAND: see above"
}

# right FILM [COLUMNS]: in every mode.
right() {
    local n=${2:-20} options
    for options in "-n 1" "--columns $n" "--keyframes --columns $n"; do
        # shellcheck disable=SC2086  # words
        ok "$1" $options -m average --size 16 --json j.json
        judged "$1"
    done
}

# whole FILM [COLUMNS]: right, and --strict has nothing to say.
whole() {
    right "$@"
    ok "$1" --columns "${2:-20}" -m average --size 16 --strict -o p.png
    says_not warning
}
