#!/usr/bin/env python3
"""sbom.py PROGRAM FFMPEG WORD... - what a program is made of, as SPDX 2.3 in JSON, on stdout. `make sbom` calls it.

FFMPEG is the PREFIX of build-static-ffmpeg.sh. The WORDs are those of the program's link command. Each library belongs to a
source package of Debian, to FFMPEG or to CUDA. Its files are in the package's comment. SOURCE_DATE_EPOCH is the time.
"""
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
from urllib.parse import quote

LICENCES = {
    "barcode": "MIT", "cuda-runtime": "LicenseRef-NVIDIA-CUDA", "dav1d": "BSD-2-Clause", "ffmpeg": "LGPL-2.1-or-later",
    "gcc": "GPL-3.0-or-later WITH GCC-exception-3.1", "glibc": "LGPL-2.1-or-later", "jansson": "MIT",
    "libjpeg-turbo": "IJG AND BSD-3-Clause AND Zlib", "libpng1.6": "libpng-2.0", "libseccomp": "LGPL-2.1-only", "libwebp": "BSD-3-Clause",
    "libzstd": "BSD-3-Clause", "xxhash": "BSD-2-Clause",
    "zlib": "Zlib",
}


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout


def compiler_file(name):
    return output("gcc", "-print-file-name=" + name).strip()


def linked_file(word, folders):
    """The file that the linker takes for -lNAME or -l:FILE: of the first folder, the shared library if it has both."""
    names = [word[3:]] if word.startswith("-l:") else [f"lib{word[2:]}.so", f"lib{word[2:]}.a"]
    paths = [os.path.join(folder, name) for folder in folders for name in names] + [compiler_file(name) for name in names]
    for path in paths:
        if os.path.isabs(path) and os.path.exists(path):
            return os.path.realpath(path)
    sys.exit(f"sbom.py: cannot find the library {word}")


def is_static(path):
    """Returns true for an archive with something in it: glibc's libdl.a is empty."""
    return path.endswith(".a") and os.path.getsize(path) > len("!<arch>\n")


def link_files(program, words):
    """The files that are in the program, and those that it loads."""
    folders = [word[2:] for word in words if word.startswith("-L")]
    files = {linked_file(word, folders) for word in words if word.startswith("-l")}
    if "-static-libgcc" in words:
        files.add(os.path.realpath(compiler_file("libgcc.a")))
    files |= {os.path.realpath(path) for path in re.findall(r"(/\S+) \(0x", output("ldd", program))}
    return sorted(files)


def debian_sources(files):
    """Name and version of the source package of each file that is from one."""
    forms = {form: path for path in files for form in (path, re.sub("^/usr/lib", "/lib", path), re.sub("^/lib", "/usr/lib", path))}
    owned = re.findall(r"^([^ ,]+)(?:, [^ ]+)*: (/.+)$", output("dpkg-query", "-S", *forms), re.M)
    listed = output("dpkg-query", "-W", "-f=${binary:Package} ${Package} ${source:Package} ${source:Version}\n")
    sources = {}
    for line in listed.splitlines():
        binary, package, *source = line.split()
        sources[binary] = sources[package] = source
    return {forms[form]: sources[package] for package, form in owned}


def component(name, version, location, **more):
    licence = LICENCES.get(re.sub(r"^gcc-\d+$", "gcc", name), "NOASSERTION")
    return {"name": name, "SPDXID": "SPDXRef-" + re.sub("[^A-Za-z0-9.-]", "-", name), "versionInfo": version,
            "downloadLocation": location, "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence,
            "copyrightText": "NOASSERTION", **more}


def purl(name, version):
    url = f"pkg:deb/debian/{quote(name)}@{quote(version, safe='')}?arch=source"
    return {"externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": url}]}


def built_here(name, ffmpeg):
    """FFmpeg or dav1d as build-static-ffmpeg.sh made it: the .dsc has the hashes of the sources and of Debian's patches."""
    with open(os.path.join(ffmpeg, "sources"), encoding="utf-8") as lines:
        found = re.search(rf"^'(\S+)' ({name}_(\S+)\.dsc) \d+ SHA256:(\w+)$", lines.read(), re.M)
    uri, file, version, digest = found.groups()
    return component(name, version, uri, packageFileName=file, checksums=[{"algorithm": "SHA256", "checksumValue": digest}],
                     **purl(name, version))


def component_of(path, sources, program, ffmpeg):
    if path.startswith(os.path.realpath(ffmpeg) + "/"):
        return built_here("dav1d" if "dav1d" in os.path.basename(path) else "ffmpeg", ffmpeg)
    if path in sources:
        name, version = sources[path]
        return component(name, version, f"https://snapshot.debian.org/package/{quote(name)}/{quote(version, safe=':+~')}/",
                         **purl(name, version))
    cuda = re.search(r"^CUDA (\S+)$", output(program, "--version"), re.M)
    if cuda and "libcudart" in path:
        return component("cuda-runtime", cuda[1], "https://developer.nvidia.com/cuda-toolkit-archive")
    return sys.exit(f"sbom.py: cannot tell where {path} is from")


def main():
    program, ffmpeg, words = sys.argv[1], sys.argv[2], sys.argv[3:]
    with open(os.path.join(os.path.dirname(__file__), "../../src/base/version.h"), encoding="utf-8") as header:
        version = re.search(r'BARCODE_VERSION "(.*)"', header.read())[1]
    packages = {"barcode": component("barcode", version, "NOASSERTION")}
    links, files = {}, {}
    linked = link_files(program, words)
    sources = debian_sources(linked)
    for path in linked:
        made = component_of(path, sources, program, ffmpeg)
        packages[made["name"]] = made
        files.setdefault(made["name"], []).append(os.path.basename(path))
        if is_static(path) or made["name"] not in links:
            links[made["name"]] = "STATIC_LINK" if is_static(path) else "DYNAMIC_LINK"
    for name, of in files.items():
        packages[name]["comment"] = " ".join(of)
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"barcode-{version}",
        "documentDescribes": ["SPDXRef-barcode"], "packages": [packages[name] for name in sorted(packages)],
        "relationships": [{"spdxElementId": "SPDXRef-barcode", "relationshipType": links[name],
                           "relatedSpdxElement": packages[name]["SPDXID"]} for name in sorted(links)],
    }
    if "cuda-runtime" in packages:
        document["hasExtractedLicensingInfos"] = [{"licenseId": LICENCES["cuda-runtime"], "name": "NVIDIA CUDA Toolkit EULA",
                                                   "extractedText": "See https://docs.nvidia.com/cuda/eula/."}]
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    document["documentNamespace"] = f"https://spdx.org/spdxdocs/barcode-{version}-{digest[:32]}"
    made = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    document["creationInfo"] = {"created": made.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: barcode-sbom.py"]}
    json.dump(document, sys.stdout, indent=1)
    print()


main()
