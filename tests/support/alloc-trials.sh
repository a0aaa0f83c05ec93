#!/usr/bin/env bash
# alloc-trials.sh PROGRAM SHIM FILM [STEP [FIRST]] - the allocation trials: the K-th large allocation fails (failing-alloc.c), for K
# from FIRST (1) in steps of STEP (1) to where none is left; alone, and with every one after it. FAILING_ALLOC_LEAST: what is large.
# CRASHES=1: libavcodec may crash, which the program must survive and tell.
#
# A run must end with 1 and a sentence on memory, and leave no file, or with the picture of an undisturbed run. It may warn
# of the cache alone. A run after it, with the same cache, must give that picture.
# One line at the end; exit 1 when a trial failed.
set -u
program=$(realpath "$1") shim=$(realpath "$2") film=$(realpath "$3") step=${4:-1} first=${5:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset BARCODE_CACHE
args=("$film" --threads 2 -n 3 -m palette --steady --width 20 --n-init 2 --size 192)
"$program" "${args[@]}" --no-cache -o right.png 2> said || { echo "FAIL: $film without a failure: $(cat said)"; exit 1; }
trials=0 right=0 refused=0 warned=0 failed=0

wrong() {
    echo "FAIL: $(basename "$film"), allocation $order: $*"
    sed 's/^/  /' said | head -n 5
    failed=$((failed + 1))
}

# order K or K+: one trial; false when there is no K-th allocation.
trial() {
    order=$1
    rm -rf seen cache now.png
    LD_PRELOAD=$shim FAILING_ALLOC=$order FAILING_ALLOC_SEEN=seen timeout -k 5 60 "$program" "${args[@]}" --cache cache -o now.png 2> said
    local status=$?
    [ -e seen ] || return 1
    trials=$((trials + 1))
    case $status in
        0) right=$((right + 1))
            cmp -s right.png now.png || wrong "another picture, and exit 0"
            if grep -q warning said; then warned=$((warned + 1)); fi
            if grep warning said | grep -qv cache; then wrong "a warning that is not about the cache"; fi ;;
        1) refused=$((refused + 1))
            grep -v warning said | grep -q "^barcode: .*\(memory\|bytes${CRASHES:+\|crashed: Segmentation fault}\)" || wrong "no sentence on memory"
            [ "$(grep -vc -e warning -e "keeping analysed frames" said)" -eq 1 ] || wrong "not one sentence"
            [ ! -e now.png ] || wrong "a picture is left" ;;
        *) wrong "exit status $status" ;;
    esac
    [ -z "$(find . -name '.*' -type f)" ] || wrong "a temporary file is left: $(find . -name '.*' -type f)"
    "$program" "${args[@]}" --cache cache -o now.png 2> said || wrong "the next run fails"
    cmp -s right.png now.png || wrong "the next run gives another picture"
    if [ -s said ] && grep -q warning said; then wrong "the next run warns"; fi
}

for after in '' +; do
    k=$first
    while trial "$k$after"; do k=$((k + step)); done
done
echo "$(basename "$film"): $trials trials: $right right pictures ($warned with a warning of the cache), $refused refused, $failed wrong"
[ "$failed" -eq 0 ]
