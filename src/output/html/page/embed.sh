#!/usr/bin/env bash
# embed.sh FILE... - the files of the pages as C on stdout: of each its bytes and, for the page's own policy (CSP), their SHA-256.
# html_template.h declares what comes out. A byte array and no string: compilers need not take strings of this length.
set -euo pipefail

echo '#include "output/html/html_template.h"'
for file in "$@"; do
    name=$(basename "$file" | tr . _)
    # Either would end the element that the file is put into.
    if [[ $file != *.html ]] && grep -qiE '</(script|style)|<!--' "$file"; then
        echo "embed.sh: $file has what ends a script or a style in HTML" >&2
        exit 1
    fi
    hash=$(printf '%b' "$(sha256sum < "$file" | cut -c1-64 | sed 's/../\\x&/g')" | base64)
    printf 'static const unsigned char bytes_%s[] = {\n' "$name"
    od -An -v -tu1 -w32 "$file" | sed 's/  *\([0-9]\)/\1/; s/  */,/g; s/$/,/'
    printf '};\nconst struct page_file page_%s = {bytes_%s, sizeof bytes_%s, "%s"};\n' "$name" "$name" "$name" "$hash"
done
