#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A debuginfod server on loopback: debuginfod_server.py PORT-FILE LOG [ID-FOLDER] [MANNER].

ID-FOLDER holds ID.debuginfo and ID.executable; what it lacks is 404. Manners of being bad: `slow`
answers nothing, `dies` closes in the middle of a file, `broken` answers 500, `drips` sends a byte
a second. The port is written into PORT-FILE once it listens, each request into LOG."""
import http.server
import os
import sys
import time


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):  # noqa: N802: http.server's name
        port_file, log, folder, manner = ARGUMENTS
        with open(log, "a", encoding="utf-8") as out:
            out.write(self.path + "\n")
        parts = self.path.strip("/").split("/")
        path = os.path.join(folder, ".".join(parts[1:3])) if len(parts) == 3 else ""
        if manner == "slow":
            time.sleep(120)
        if manner == "broken":
            self.send_error(500)
            return
        if not os.path.isfile(path):
            self.send_error(404)
            return
        with open(path, "rb") as file:
            data = file.read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if manner == "dies":
            self.wfile.write(data[: len(data) // 2])
            self.wfile.flush()
            os._exit(0)
        for at in range(0, 120 if manner == "drips" else 0):
            self.wfile.write(data[at : at + 1])
            self.wfile.flush()
            time.sleep(1)
        self.wfile.write(data)

    def log_message(self, *arguments):
        pass


ARGUMENTS = (sys.argv + ["", ""])[1:5]
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
with open(ARGUMENTS[0] + ".new", "w", encoding="utf-8") as port:
    port.write(str(server.server_address[1]))
os.rename(ARGUMENTS[0] + ".new", ARGUMENTS[0])
server.serve_forever()
