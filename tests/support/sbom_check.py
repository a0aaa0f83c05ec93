#!/usr/bin/env python3
"""sbom_check.py FILE WORD... - checks a list of sbom.py: SPDX 2.3's required fields, ids, and each library of a link command."""
import json
import re
import sys


def demand(holds, what):
    if not holds:
        sys.exit(f"sbom_check.py: {what}")


with open(sys.argv[1], encoding="utf-8") as file:
    document = json.load(file)
demand(document["spdxVersion"] == "SPDX-2.3" and document["dataLicense"] == "CC0-1.0", "not SPDX 2.3 under CC0-1.0")
demand(document["SPDXID"] == "SPDXRef-DOCUMENT" and document["name"], "the document has no id or name")
demand(re.fullmatch(r"https?://[^\s#]+", document["documentNamespace"]), "the namespace is not a URI without fragment")
demand(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", document["creationInfo"]["created"]), "the time is not of ISO 8601")
demand(all(re.match(r"(Tool|Person|Organization): ", by) for by in document["creationInfo"]["creators"] or [""]), "no creator")

packages = document["packages"]
ids = [package["SPDXID"] for package in packages]
demand(len(set(ids)) == len(ids), "an id occurs twice")
for package in packages:
    what = package["name"]
    demand(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", package["SPDXID"]), f"{what}: the id is not one of SPDX")
    demand(what and package["versionInfo"], f"{what}: no name or version")
    demand(package["filesAnalyzed"] is False, f"{what}: no files are listed, so none were analysed")
    demand(re.match(r"https?://|NOASSERTION$", package["downloadLocation"]), f"{what}: no download location")
    for checksum in package.get("checksums", []):
        demand(checksum["algorithm"] == "SHA256" and re.fullmatch("[0-9a-f]{64}", checksum["checksumValue"]), f"{what}: checksum")
demand(set(document["documentDescribes"]) <= set(ids), "what is described is not there")
links = document["relationships"]
demand({link["relatedSpdxElement"] for link in links} | {"SPDXRef-barcode"} == set(ids), "a package without relationship")
demand(all(link["spdxElementId"] in ids and link["relationshipType"].endswith("_LINK") for link in links), "a relationship of nothing")
own = {info["licenseId"] for info in document.get("hasExtractedLicensingInfos", [])}
used = {word for package in packages for word in re.findall(r"LicenseRef-[A-Za-z0-9.-]+", package["licenseDeclared"])}
demand(own == used, "a licence of its own is without text")

files = " ".join(package.get("comment", "") for package in packages).split()
for word in sys.argv[2:]:
    if word.startswith("-l:"):
        demand(word[3:] in files, f"{word} is not in the list")
    elif word.startswith("-l"):
        demand(any(re.match(re.escape("lib" + word[2:]) + r"[-.]", file) for file in files), f"{word} is not in the list")
