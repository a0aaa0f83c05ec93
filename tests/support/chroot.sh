# shellcheck shell=bash
# chroot.sh - what scripts share that work in root folders of their own, which source it: root's
# rights; the folder $work, which goes at the end with what is mounted in it; and inside.

[ "$(id -u)" -eq 0 ] || { echo "${0##*/}: root is needed, for chroot" >&2; exit 1; }
work=$(readlink -f "$(mktemp -d)")
finish() {
    # Of a mount that stands there twice, the second goes with the first.
    awk -v folder="$work/" 'index($2, folder) == 1 { print $2 }' /proc/self/mounts | sort -ru |
        xargs -r -n 1 umount -l 2> /dev/null || true
    rm -rf --one-file-system "$work"
}
trap finish EXIT

# What a command in $root has of the environment, besides a minimum.
environment=()
# shellcheck disable=SC2154  # $root is of the script that sources this
inside() { # COMMAND...
    chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive "${environment[@]}" "$@"
}
