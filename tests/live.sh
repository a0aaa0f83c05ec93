#!/usr/bin/env bash
# live.sh [NAME...] - live barcodes with real parts, on this machine alone: all tests of live.py, or those.
#
# A network namespace of its own (unshare) keeps its ports and its losses to itself, where this user may make one.
set -u
cd "$(dirname "$0")/.." || exit 1
unset "${!BARCODE_@}"
export BARCODE=${BARCODE:-out/bin/barcode} MADE_FEED=${MADE_FEED:-out/bin/made_feed}
if unshare -n true 2> /dev/null; then
    # shellcheck disable=SC2016 # for the inner shell
    exec unshare -n sh -c 'ip link set lo up && exec "$@"' sh "${PYTHON:-/usr/bin/python3}" tests/live.py "$@"
fi
exec "${PYTHON:-/usr/bin/python3}" tests/live.py "$@"
