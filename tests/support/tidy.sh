#!/bin/sh
# tidy.sh FILE - clang-tidy on one file with the flags of out/compile_commands.json (make compdb); quiet when clean.
set -eu
out=$(clang-tidy --quiet -p out "$1" 2>/dev/null) || { echo "$out"; exit 255; }
[ -z "$out" ] || { echo "$out"; exit 255; }
