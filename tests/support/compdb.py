#!/usr/bin/env python3
"""compdb.py - what make would run (make -nB, on stdin) as a compilation database, for clangd and clang-tidy.

nvcc's commands are left out: neither understands them. The k-means kernels are there as the emulator compiles them.
"""
import json
import os
import shlex
import sys

entries = []
for line in sys.stdin:
    words = shlex.split(line, comments=True) if " -c " in line else []
    if "-c" not in words or "-o" not in words or os.path.basename(words[0]) == "nvcc":
        continue
    source, target = (words[words.index(option) + 1] for option in ("-c", "-o"))
    entries.append({"directory": os.getcwd(), "file": source, "output": target, "arguments": words})
json.dump(entries, sys.stdout, indent=1)
