#!/usr/bin/env python3
"""pace.py TS FIFO... - writes each picture of a transport stream to all FIFOs at its time.

For `barcode --live FIFO...` on a machine without ffmpeg and a network: 30 pictures a second, the
streams 1/480 s apart. The pictures have PID 256, as ffmpeg writes them.
"""
import sys, threading, time
data = open(sys.argv[1], "rb").read()
packets = [data[i:i + 188] for i in range(0, len(data), 188)]
chunks, now = [], []
for p in packets:
    pid = (p[1] & 31) << 8 | p[2]
    if pid == 256 and p[1] & 0x40 and now:
        chunks.append(b"".join(now))
        now = []
    now.append(p)
chunks.append(b"".join(now))
start = time.monotonic() + 4
def send(path, k):
    with open(path, "wb", buffering=0) as f:
        for i, c in enumerate(chunks):
            time.sleep(max(0, start + (i + k / 16) / 30 - time.monotonic()))
            f.write(c)
threads = [threading.Thread(target=send, args=(p, k)) for k, p in enumerate(sys.argv[2:])]
[t.start() for t in threads]; [t.join() for t in threads]
