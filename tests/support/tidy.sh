#!/bin/sh
# tidy.sh FILE [FLAG...] - clang-tidy on one file with the flags that the Makefile builds it with; quiet when clean.
set -eu
file=$1
shift
case $file in
    *_avx2.c) isa="-mavx2 -mbmi -mbmi2 -mlzcnt -mpopcnt" ;;
    *_avx512.c) isa="-mavx2 -mbmi -mbmi2 -mlzcnt -mpopcnt -mavx512f -mavx512bw -mavx512dq -mavx512vl" ;;
    *_vnni.c) isa="-mavx2 -mbmi -mbmi2 -mlzcnt -mpopcnt -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni" ;;
    *) isa="" ;;
esac
# shellcheck disable=SC2086  # flags are words
out=$(clang-tidy --quiet "$file" -- -std=c11 -D_GNU_SOURCE -Iinclude $isa "$@" 2>/dev/null) || { echo "$out"; exit 255; }
[ -z "$out" ] || { echo "$out"; exit 255; }
