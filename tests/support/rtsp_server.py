#!/usr/bin/env python3
"""rtsp_server.py PORT FILE.mp4 - a real RTSP server (GStreamer's) on 127.0.0.1, at /live."""
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402

Gst.init(None)
server, factory = GstRtspServer.RTSPServer(), GstRtspServer.RTSPMediaFactory()
server.set_address("127.0.0.1")
server.set_service(sys.argv[1])
factory.set_shared(True)
factory.set_launch(f"( filesrc location={sys.argv[2]} ! qtdemux ! h264parse ! rtph264pay name=pay0 pt=96 config-interval=-1 )")
server.get_mount_points().add_factory("/live", factory)
server.attach(None)
print("ready", flush=True)
GLib.MainLoop().run()
