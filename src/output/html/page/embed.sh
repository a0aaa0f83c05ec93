#!/usr/bin/env bash
# embed.sh FILE... - writes the files of the pages as C to stdout: their bytes, and their SHA-256
# for the page's Content-Security-Policy. html_template.h declares the output. It is a byte array,
# because compilers need not accept string literals of this length.
set -euo pipefail

echo '#include "output/html/html_template.h"'
for file in "$@"; do
    name=$(basename "$file" | tr . _)
    # These would end the element that contains the file.
    if [[ $file != *.html ]] && grep -qiE '</(script|style)|<!--' "$file"; then
        echo "embed.sh: '$file' contains text that would end a <script> or <style> element" >&2
        exit 1
    fi
    hash=$(printf '%b' "$(sha256sum < "$file" | cut -c1-64 | sed 's/../\\x&/g')" | base64)
    printf 'static const unsigned char bytes_%s[] = {\n' "$name"
    od -An -v -tu1 -w32 "$file" | sed 's/  *\([0-9]\)/\1/; s/  */,/g; s/$/,/'
    printf '};\nconst struct page_file page_%s = {bytes_%s, sizeof bytes_%s, "%s"};\n' "$name" "$name" "$name" "$hash"
done
