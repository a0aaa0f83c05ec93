#!/bin/bash
# Builds and tests the project in a bare Debian of another release, as somebody with a fresh machine would: a root folder by
# bare-debian.sh (root, and Debian's mirror, which MIRROR names; some 300 MB are downloaded) and a clone of HEAD in it.
#
#   test-debian.sh RELEASE [TARGET...]      RELEASE: bookworm, trixie, sid, ...; without targets: demo test
#
# CASES=REGEX chooses among the cases of cli and cli-quick; CFLAGS are -O1 unless given: compiling takes longest.
set -euo pipefail

release=${1:?usage: test-debian.sh RELEASE [TARGET...]}
shift
[ $# -gt 0 ] || set -- demo test
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/support/chroot.sh
. "$top/tests/support/chroot.sh"
root=$work/root
# In the clone, once it is there.
inside_clone() {
    # shellcheck disable=SC2016  # the inner shell expands
    inside bash -c 'cd /root/barcode && "$@"' inside "$@"
}

"$top/tests/support/bare-debian.sh" "$release" "$root" > "$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; exit 1; }
# unshare -m needs a root that is a mount point.
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --make-rslave "$root/dev"
git clone -q "$top" "$root/root/barcode"
inside sh -c 'apt-get -qq update && apt-get -qq install -y --no-install-recommends make > /dev/null'
inside_clone make --no-print-directory deps
# shellcheck disable=SC2016  # the inner shell expands
inside sh -c '. /etc/os-release; echo "== $PRETTY_NAME, $(gcc --version | head -n 1), $(ffmpeg -version | head -n 1 | cut -d" " -f1-3)"'
for target in "$@"; do
    inside_clone make --no-print-directory -j"$(nproc)" WERROR=1 CUDA=0 CFLAGS="${CFLAGS:--O1}" CASES="${CASES:-}" "$target"
done
