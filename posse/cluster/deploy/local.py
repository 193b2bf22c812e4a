#!/usr/bin/env python3
"""A cluster on this machine, to try programs with: nats-server on a loopback port, with
certificates made on the spot, and workers.

usage: local.py up FOLDER [--port N] [--worker 'PROGRAM ARGUMENTS']... [--try 'PROGRAM ARGUMENTS']
       local.py down FOLDER
       local.py status FOLDER

FOLDER keeps certificates, logs and the server's store. To each worker's arguments `up` appends
--cluster ADDRESS and the certificates, and so it does to the command that it prints for --try. Exit
status 3 of `status`: not everything runs.
"""
import fcntl
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time

import certificates

SERVER_STARTS_S = 20  # it reads its store first
SERVER_ENDS_S = 20
WORKER_ENDS_S = 60  # it finishes what runs; whoever waits longer has items that take longer


def complain(sentence):
    sys.exit(f"cluster: {sentence}")


def begun(pid):
    """When the process began, so that another one with its number is told apart; None: it ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else fields[19]


class Cluster:
    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        self.state = {"address": "", "try": "", "processes": []}
        try:
            with open(self.path("state.json"), encoding="utf-8") as file:
                self.state = json.load(file)
        except FileNotFoundError:
            pass

    def path(self, name):
        return os.path.join(self.folder, name)

    def save(self):
        with open(self.path("state.json.new"), "w", encoding="utf-8") as file:
            json.dump(self.state, file, indent=1)
        os.replace(self.path("state.json.new"), self.path("state.json"))

    def running(self):
        return [p for p in self.state["processes"] if begun(p["pid"]) == p["begun"]]

    def connection(self):
        return ["--cluster", self.state["address"], "--ca", self.path("ca.pem"),
                "--certificate", self.path("client.pem"), "--key", self.path("client.key")]

    def start(self, name, command):
        with open(self.path(name + ".log"), "wb") as log:
            # A session of its own: Ctrl-C in this terminal is not meant for it.
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log,
                                       stderr=log, start_new_session=True)
        self.state["processes"].append(
            {"name": name, "pid": process.pid, "begun": begun(process.pid)})
        self.save()
        return process

    def why(self, name):
        with open(self.path(name + ".log"), encoding="utf-8", errors="replace") as log:
            lines = log.read().strip().splitlines()
        return lines[-1] if lines else "it said nothing"

    def end(self, names, patience_s):
        """SIGTERM, and SIGKILL for what still runs when patience ends."""
        mine = [p for p in self.running() if p["name"] in names]
        for number, until in ((signal.SIGTERM, time.monotonic() + patience_s),
                              (signal.SIGKILL, time.monotonic() + patience_s + 5)):
            for p in mine:
                try:
                    os.kill(p["pid"], number)
                except ProcessLookupError:
                    pass
            while mine and time.monotonic() < until:
                time.sleep(0.02)
                mine = [p for p in mine if begun(p["pid"]) == p["begun"]]
            if mine and number == signal.SIGTERM:
                print(f"{', '.join(p['name'] for p in mine)}: still running, and killed")


def in_use(port):
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind(("127.0.0.1", port))
        except OSError as e:
            return str(e.strerror)
    return None


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def up(cluster, port, workers, command):
    if cluster.running():
        print("the cluster is up already")
        return status(cluster)
    server = shutil.which("nats-server", path=os.environ.get("PATH", "") + ":/usr/sbin")
    for tool, package in ((server, "nats-server"), (shutil.which("openssl"), "openssl")):
        if tool is None:
            complain(f"there is no {package} (Debian: apt install {package})")
    reason = in_use(port)
    if reason is not None:
        complain(f"port {port} of 127.0.0.1 cannot be had ({reason}); another one: --port N")
    try:
        certificates.make(cluster.folder, "ca")
        certificates.make(cluster.folder, "server", certificates.LOOPBACK, authority="ca")
        certificates.make(cluster.folder, "client", authority="ca")
    except certificates.Failed as problem:
        complain(problem)
    shutil.rmtree(cluster.path("store"), ignore_errors=True)
    cluster.state = {"address": f"nats://127.0.0.1:{port}", "try": command, "processes": []}
    process = cluster.start("server", [
        server, "-a", "127.0.0.1", "-p", str(port), "-js", "-sd", cluster.path("store"), "--tls",
        "--tlscert", cluster.path("server.pem"), "--tlskey", cluster.path("server.key"),
        "--tlsverify", "--tlscacert", cluster.path("ca.pem")])
    until = time.monotonic() + SERVER_STARTS_S
    while not listens(port):
        if process.poll() is not None or time.monotonic() > until:
            down(cluster)
            complain(f"the server does not answer: {cluster.why('server')}")
        time.sleep(0.05)
    begun_workers = [(f"worker-{i}", cluster.start(f"worker-{i}",
                                                   shlex.split(w) + cluster.connection()))
                     for i, w in enumerate(workers, 1)]
    time.sleep(0.3)  # what a worker cannot start with, it says at once
    for name, process in begun_workers:
        if process.poll() is not None:
            down(cluster)
            complain(f"{name} has ended: {cluster.why(name)}")
    return status(cluster)


def down(cluster):
    if not cluster.running():
        print("the cluster is down")
    names = {p["name"] for p in cluster.state["processes"]}
    cluster.end(names - {"server"}, WORKER_ENDS_S)
    cluster.end({"server"}, SERVER_ENDS_S)
    cluster.state["processes"] = []
    cluster.save()
    shutil.rmtree(cluster.path("store"), ignore_errors=True)
    return 0


def status(cluster):
    running = cluster.running()
    if not cluster.state["processes"]:
        print("the cluster is down")
        return 3
    print(cluster.state["address"])
    for p in cluster.state["processes"]:
        print(f"{p['name']}: " + (f"process {p['pid']}" if p in running else
                                  f"ended; {cluster.path(p['name'] + '.log')}"))
    words = shlex.split(cluster.state["try"]) or ["PROGRAM"]
    print("try: " + shlex.join(words + cluster.connection()))
    return 0 if len(running) == len(cluster.state["processes"]) else 3


def main():
    words = sys.argv[1:]
    if len(words) < 2 or words[0] not in ("up", "down", "status") or len(words) % 2 != 0:
        sys.exit(__doc__)
    command, folder, *rest = words
    port, workers, trial = 4222, [], ""
    for name, value in zip(rest[::2], rest[1::2]):
        if command != "up" or name not in ("--port", "--worker", "--try"):
            complain(f"{command} does not know '{name}'")
        if name == "--worker":
            workers.append(value)
        elif name == "--try":
            trial = value
        elif value.isdigit() and 0 < int(value) < 65536:
            port = int(value)
        else:
            complain(f"a port is 1 to 65535, not '{value}'")
    os.umask(0o077)  # keys are nobody else's
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        cluster = Cluster(folder)
        sys.exit({"up": lambda: up(cluster, port, workers, trial), "down": lambda: down(cluster),
                  "status": lambda: status(cluster)}[command]())


if __name__ == "__main__":
    main()
