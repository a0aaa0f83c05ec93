#!/bin/bash
# Runs the steps of samples/docker/Dockerfile without Docker, and renders a film by its ENTRYPOINT.
# A chroot by bare-debian.sh stands for each stage's base image. Needs root and Debian's mirror, which
# MIRROR names. `make test-docker` calls it.
#
#   test-docker.sh DOCKERFILE FILM [NAME=VALUE...]      NAME=VALUE is --build-arg
#
# The steps are parsed from the Dockerfile. Known are: FROM debian:SUITE-slim [AS NAME],
# ARG NAME=VALUE, ENV NAME=VALUE..., RUN, COPY [--from=STAGE] SOURCE... TARGET, WORKDIR, USER and
# an ENTRYPOINT in JSON. Any other instruction is an error.
set -euo pipefail

usage="usage: test-docker.sh DOCKERFILE FILM [NAME=VALUE...]"
dockerfile=$(readlink -f "${1:?$usage}")
film=$(readlink -f "${2:?$usage}")
build_args=("${@:3}")
context=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/support/package.sh
. "$context/tests/support/package.sh"

# Makes the image debian:SUITE-slim as far as the steps need it: apt's sources are in
# debian.sources.
make_base() { # SUITE
    local root=$work/base-$1 mirror=${MIRROR:-http://deb.debian.org/debian}
    "$context/tests/support/bare-debian.sh" "$1" "$root" || return
    rm -f "$root/etc/apt/sources.list"
    printf '%s\n' "Types: deb" "URIs: $mirror" "Suites: $1 $1-updates" "Components: main" \
        "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg" \
        > "$root/etc/apt/sources.list.d/debian.sources"
}

# What FROM resets: the state of the stage.
root='' user=root folder=/ entry=() env=()
declare -A stages=()
paths=PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
from() { # debian:SUITE-slim [AS NAME]
    local suite=${1#debian:}
    suite=${suite%-slim}
    [ "$1" = "debian:$suite-slim" ] || die "FROM $1: only debian:SUITE-slim is known"
    [ -d "$work/base-$suite" ] || check "$1" make_base "$suite"
    root=$work/stage-${#stages[@]}
    stages[${3:-${#stages[@]}}]=$root
    cp -a --reflink=auto "$work/base-$suite" "$root"
    user=root folder=/ entry=() env=("$paths")
}
inside() { # USER COMMAND...: with nothing of this process's environment but ENV and ARG
    local who=$1
    shift
    # shellcheck disable=SC2016  # the inner shell expands
    chroot --userspec="$who" --groups= "$root" /usr/bin/env -i "${env[@]}" \
        /bin/sh -c 'cd "$0" && exec "$@"' "$folder" "$@" < /dev/null
}
set_argument() { # NAME=DEFAULT
    local given
    env+=("$1")
    for given in "${build_args[@]}"; do
        [ "${given%%=*}" != "${1%%=*}" ] || env+=("$given")
    done
}
copy() { # [--from=STAGE] SOURCE... TARGET
    local from=$context to=${*: -1} source
    if [[ $1 == --from=* ]]; then
        from=${stages[${1#--from=}]:?no such stage}
        shift
    fi
    [[ $to == /* ]] || to=$folder/$to
    [[ $to != */ ]] || mkdir -p "$root$to"
    for source in "${@:1:$#-1}"; do
        # Of a folder, Docker copies the content.
        if [ -d "$from/$source" ]; then
            mkdir -p "$root$to" && cp -a --no-preserve=ownership "$from/$source/." "$root$to"
        else
            cp --preserve=mode,timestamps "$from/$source" "$root$to"
        fi || return
    done
}
set_entry() { # JSON
    mapfile -t entry < <(
        python3 -c 'import json, sys; print("\n".join(json.loads(sys.argv[1])))' "$1"
    )
    [ ${#entry[@]} -gt 0 ]
}

step() { # INSTRUCTION REST
    local words
    read -ra words <<< "$2"
    case $1 in
    FROM) from "${words[@]}" ;;
    ARG) set_argument "$2" ;;
    ENV) env+=("${words[@]}") ;;
    RUN) check "RUN ${2:0:80}" inside "$user" /bin/sh -c "$2" ;;
    COPY) check "COPY $2" copy "${words[@]}" ;;
    WORKDIR) folder=$2 && mkdir -p "$root$folder" ;;
    USER) user=$2 && inside "$user" true ;;
    ENTRYPOINT) set_entry "$2" ;;
    *) die "$1: an instruction that test-docker.sh does not know" ;;
    esac
}

# Comments are left out, also between the lines of an instruction; a backslash joins lines.
mapfile -t lines < "$dockerfile"
instruction=
for line in "${lines[@]}"; do
    [[ ! $line =~ ^[[:space:]]*(#|$) ]] || continue
    line=${line#"${line%%[![:space:]]*}"}
    if [[ $line == *\\ ]]; then
        instruction+=${line%\\}
        continue
    fi
    instruction+=$line
    step "${instruction%% *}" "${instruction#* }"
    instruction=
done

# docker run -v FILMS:/films -u USER
render() { # USER FILM OPTION...
    inside "$1" "${entry[@]}" "${@:2}"
}
[ ${#entry[@]} -gt 0 ] || die "the Dockerfile has no ENTRYPOINT"
[ "$(inside "$user" id -u)" -ne 0 ] || die "the image's user is root"
cp "$film" "$root$folder/film.mkv"
chmod 1777 "$root$folder"
check "it prints its version" render "$user" --version
cat "$work/log"
check "it makes an image with words" render "$user" film.mkv -n 24 -m all -o all.png
check "the next image comes from the cache" render "$user" film.mkv -n 24 -v -o film.png
grep -q 'cache hit' "$work/log" || die "the cache was not used"
rm -r "$root/cache"/*
check "a user unknown to the image makes one" render 4711:4711 film.mkv -n 24 -o other.png
[ "$(stat -c %u "$root$folder/other.png")" = 4711 ] || die "other.png has another owner"
check "both users' images are the same" cmp "$root$folder/film.png" "$root$folder/other.png"
check "all.png is a PNG" sh -c "head -c 4 '$root$folder/all.png' | grep -q PNG"
echo "the image has $(du -sm "$root" | cut -f1) MB"
echo "$passed passed, 0 failed"
