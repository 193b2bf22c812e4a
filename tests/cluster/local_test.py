#!/usr/bin/env python3
"""A cluster on this machine goes up once, draws a picture and goes down.

usage: local_test.py LOCAL RENDER
"""
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

from fixture import PORTS

LOCAL = RENDER = ""
PICTURE = ["--width", "200", "--height", "130", "--iterations", "300"]


class LocalClusterTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="basal-local-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.addCleanup(self.cluster, "down")

    def cluster(self, command, *more):
        return subprocess.run([sys.executable, "-B", LOCAL, command,
                               os.path.join(self.folder, "cluster"), *more],
                              capture_output=True, text=True, timeout=150, check=False)

    def up(self, port):
        worker = f"{shlex.quote(RENDER)} --serve --executors 1"
        return self.cluster("up", "--port", str(port), "--worker", worker, "--worker", worker,
                            "--try", shlex.join([RENDER, *PICTURE]))

    def draw(self, *command):
        path = os.path.join(self.folder, "picture.png")
        subprocess.run([*command, "-o", path], check=True, timeout=100, stdout=subprocess.DEVNULL)
        with open(path, "rb") as file:
            return file.read()

    def test_up_a_picture_and_down(self):
        self.assertEqual(self.cluster("status").returncode, 3)
        port = PORTS.take(1)[0]
        done = self.up(port)
        self.assertEqual(done.returncode, 0, done.stderr)
        command = shlex.split(done.stdout.partition("try: ")[2])
        self.assertIn(f"nats://127.0.0.1:{port}", command)
        self.assertEqual(self.draw(*command), self.draw(RENDER, *PICTURE))
        again = self.up(PORTS.take(1)[0])
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(again.stdout, "the cluster is up already\n" + done.stdout)
        self.assertEqual(self.cluster("status").stdout, done.stdout)
        self.assertEqual(self.cluster("down").returncode, 0)
        self.assertEqual(self.cluster("status").returncode, 3)
        for name in ("worker-1", "worker-2"):
            with open(os.path.join(self.folder, "cluster", name + ".log"), encoding="utf-8") as log:
                self.assertEqual(log.read(), "")  # neither killed nor surprised
        self.assertEqual(self.cluster("down").stdout, "the cluster is down\n")

    def test_a_port_in_use_is_a_sentence(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            s.listen()
            port = s.getsockname()[1]
            done = self.up(port)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"port {port} of 127.0.0.1 cannot be had", done.stderr)
        self.assertIn("--port", done.stderr)
        self.assertEqual(self.cluster("status").returncode, 3)

    def test_a_worker_that_does_not_start_takes_the_rest_down(self):
        done = self.cluster("up", "--port", str(PORTS.take(1)[0]), "--worker", "false")
        self.assertEqual(done.returncode, 1)
        self.assertIn("worker-1 has ended", done.stderr)
        self.assertEqual(self.cluster("status").returncode, 3)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    LOCAL, RENDER = sys.argv[1:3]
    del sys.argv[1:3]
    if not (shutil.which("openssl")
            and shutil.which("nats-server", path=os.environ.get("PATH", "") + ":/usr/sbin")):
        print("skipped: there is no nats-server or no openssl (Debian: apt install ...)")
        sys.exit(77)
    unittest.main(verbosity=2)
