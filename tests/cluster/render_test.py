#!/usr/bin/env python3
"""samples/render draws the same picture in one process, from its journal, and by two workers.

usage: render_test.py RENDER
"""
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import zlib

SIZE = ["--width", "200", "--height", "130", "--iterations", "300"]


def draw(folder, name, *arguments):
    path = os.path.join(folder, name)
    said = subprocess.run([sys.argv[1], *SIZE, "-o", path, *arguments], check=True, timeout=100,
                          capture_output=True, text=True).stdout
    with open(path, "rb") as file:
        return file.read(), said


def rows_of(png):
    """The pixels of a PNG file with one IDAT chunk, after a look at all checksums."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(png):
        size, = struct.unpack(">I", png[at:at + 4])
        body = png[at + 4:at + 8 + size]
        assert struct.unpack(">I", png[at + 8 + size:at + 12 + size])[0] == zlib.crc32(body)
        chunks[body[:4]] = body[4:]
        at += 12 + size
    assert struct.unpack(">II", chunks[b"IHDR"][:8]) == (200, 130)
    return zlib.decompress(chunks[b"IDAT"])


def workers_ask_for_as_many_copies():
    """The first process that connects makes the streams, and that may be a worker."""
    with socket.create_server(("127.0.0.1", 0)) as silent:  # nobody can connect, nor ends
        command = [sys.argv[1], "--cluster", f"nats://127.0.0.1:{silent.getsockname()[1]}",
                   "--workers", "1", "--replicas", "2"]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as p:
            try:
                for _ in range(200):
                    with open(f"/proc/{p.pid}/task/{p.pid}/children", encoding="ascii") as file:
                        children = file.read().split()
                    words = []
                    if children:
                        with open(f"/proc/{children[0]}/cmdline", encoding="ascii") as file:
                            words = file.read().split("\0")
                    if "--serve" in words:
                        break
                    time.sleep(0.01)
                assert "--replicas" in words and words[words.index("--replicas") + 1] == "2", words
            finally:
                p.wait(60)


def main():
    folder = tempfile.mkdtemp(prefix="basal-render-")
    try:
        journal = os.path.join(folder, "journal")
        first, _ = draw(folder, "a.png", "--journal", journal)
        rows = rows_of(first)
        assert len(rows) == 130 * (1 + 3 * 200) and len(set(rows)) > 20
        second, said = draw(folder, "b.png", "--journal", journal)
        assert second == first and "(12 from the journal)" in said, said
        server = shutil.which("nats-server", path=os.environ.get("PATH", "") + ":/usr/sbin")
        if server is None:
            print("without workers: there is no nats-server (Debian: apt install nats-server)")
            return
        workers_ask_for_as_many_copies()
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        with subprocess.Popen([server, "-a", "127.0.0.1", "-p", str(port), "-js", "-sd",
                               os.path.join(folder, "store")], stderr=subprocess.DEVNULL) as p:
            try:
                for _ in range(300):
                    try:
                        socket.create_connection(("127.0.0.1", port), 1).close()
                        break
                    except OSError:
                        time.sleep(0.05)
                for more in ([], ["--serve"]):
                    alone = subprocess.run([sys.argv[1], *SIZE, "-o", os.path.join(folder, "d.png"),
                                            "--cluster", f"nats://127.0.0.1:{port}",
                                            "--replicas", "3", *more],
                                           timeout=100, capture_output=True, text=True, check=False)
                    assert alone.returncode == 1 and "--replicas 1" in alone.stderr, alone
                third, said = draw(folder, "c.png", "--cluster", f"nats://127.0.0.1:{port}",
                                   "--workers", "2", "--replicas", "1")
                assert third == first and " 0 mismatches" in said, said
            finally:
                p.kill()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
