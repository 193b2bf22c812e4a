"""Processes of a cluster on loopback: what the tests of faults and of the network stand on."""
import concurrent.futures
import contextlib
import itertools
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

SERVER = shutil.which("nats-server", path=os.environ.get("PATH", "") + ":/usr/sbin")
WORK_US = 500
ITEMS = 1500


def main(usage, at_once=1):
    """Takes CLUSTER_PROCESS and FOLDER_OF_CERTIFICATES_PY from the command line, runs the tests.

    at_once: how many side by side, where none is named; for tests that leave CPUs idle.
    """
    if len(sys.argv) < 3:
        sys.exit(usage)
    if SERVER is None:
        print("skipped: there is no nats-server (Debian: apt install nats-server)")
        sys.exit(77)
    if at_once > 1 and len(sys.argv) == 3:
        sys.exit(main_of_each(at_once))
    ClusterTest.program = sys.argv.pop(1)
    sys.path.insert(0, sys.argv.pop(1))
    unittest.main(verbosity=2)


def main_of_each(at_once):
    """Runs each test in a process of its own. Returns whether one failed, or there was none."""
    module = sys.modules["__main__"]
    names = [f"{case.__name__}.{name}" for case in vars(module).values()
             if isinstance(case, type) and issubclass(case, ClusterTest)
             for name in unittest.defaultTestLoader.getTestCaseNames(case)]

    def run(name):
        return subprocess.run([sys.executable, "-B", *sys.argv, name], check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    failed = not names
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for ended in pool.map(run, names):
            print(ended.stdout, flush=True)
            failed = failed or ended.returncode != 0
    return failed


class Ports:
    """Ports of loopback that nobody listens on, from a part of the range that is this process's
    own, below those that the kernel gives to clients: tests run side by side, and a port that was
    free a moment ago must still be."""
    SHARE, SHARES, FIRST = 40, 500, 11_000

    def __init__(self):
        first = self.FIRST + os.getpid() % self.SHARES * self.SHARE
        self.next = itertools.cycle(range(first, first + self.SHARE))

    def take(self, count):
        found = []
        for port in itertools.islice(self.next, self.SHARE):
            if len(found) == count:
                break
            with socket.socket() as s, contextlib.suppress(OSError):
                s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do
                s.bind(("127.0.0.1", port))
                found.append(port)
        if len(found) < count:
            raise OSError(f"fewer than {count} free ports among {self.SHARE}")
        return found


PORTS = Ports()


class Member:
    """One of the servers of a cluster: its ports, its configuration and its process."""

    def __init__(self, name, folder, ports):
        self.name = name
        self.port, self.routes, self.monitor = ports
        self.address = f"nats://127.0.0.1:{self.port}"
        self.configuration = os.path.join(folder, name + ".conf")
        self.store = os.path.join(folder, "store-" + name)
        self.process = None

    def configure(self, routes):
        """routes: the ports at which this server finds the others."""
        others = ", ".join(f'"nats://127.0.0.1:{port}"' for port in routes)
        with open(self.configuration, "w", encoding="utf-8") as file:
            file.write(f'server_name: {self.name}\nlisten: "127.0.0.1:{self.port}"\n'
                       f'http: "127.0.0.1:{self.monitor}"\n'
                       f'jetstream {{ store_dir: "{self.store}" }}\n'
                       # An address that a third server has told leads nowhere: only routes do.
                       f'cluster {{ name: test, listen: "127.0.0.1:{self.routes}", '
                       f'advertise: "127.0.0.1:1", routes: [{others}] }}\n')

    def says(self):
        """The server's view of JetStream and its cluster. Empty: it does not answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.monitor}/jsz?streams=1&config=1",
                                        timeout=5) as answer:
                return json.load(answer)
        except OSError:
            return {}

    def streams(self):
        """The server's view of each stream, by name."""
        return {s["name"]: s for account in self.says().get("account_details", [])
                for s in account.get("stream_detail", [])}

    def kill(self):
        self.process.kill()
        self.process.wait()


class ClusterTest(unittest.TestCase):
    """A server, workers and coordinators, with a folder of their own. All end with the test."""
    program = ""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="basal-faults-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.processes = []
        self.addCleanup(self.end)
        self.port, = PORTS.take(1)
        self.address = f"nats://127.0.0.1:{self.port}"
        self.journal = os.path.join(self.folder, "journal")
        self.tls = []
        self.prefix = []  # of all commands

    def end(self):
        for p in self.processes:
            if p.poll() is None:
                p.kill()
            p.wait()
            for stream in (p.stdout, p.stderr):
                if stream:
                    stream.close()

    def start(self, command, **more):
        p = subprocess.Popen([*self.prefix, *command], text=True, **more)
        self.processes.append(p)
        return p

    def server(self, *arguments, host="127.0.0.1"):
        p = self.start([SERVER, "-a", host, "-p", str(self.port), "-js",
                        "-sd", os.path.join(self.folder, "store"), *arguments],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        listens = ["-c", f"import socket; socket.create_connection(('{host}', {self.port}), 1)"]
        for _ in range(300):
            if subprocess.run([*self.prefix, sys.executable, *listens], check=False,
                              stderr=subprocess.DEVNULL).returncode == 0:
                return p
            time.sleep(0.05)
        self.fail("the server does not listen")

    def cluster(self, count=3, running=None, way=lambda source, target: target.routes):
        """Servers that know each other, of which the first `running` run and have elected a leader.
        `way` gives the port at which one finds the other. The address names all of them."""
        for _ in range(5):
            ports = PORTS.take(3 * count)
            members = [Member(f"s{i}", self.folder, ports[i::count]) for i in range(count)]
            for m in members:
                m.configure([way(m, other) for other in members if other is not m])
            begun = members[:running]
            for m in begun:
                self.start_member(m)
            self.address = ",".join(m.address for m in members)

            def ended():
                return any(m.process.poll() is not None for m in begun)
            if self.comes(lambda: ended() or any(self.is_complete(m, len(begun)) for m in begun),
                          patience_s=30) and not ended():
                return members
            # Somebody was quicker to take a port; or nobody is elected, as it happens now and then
            # with servers of nats-server 2.10 that start while the machine is busy.
            for m in begun:
                m.kill()
                shutil.rmtree(m.store, ignore_errors=True)
        return self.fail("the servers end, or form no cluster")

    def start_member(self, member):
        member.process = self.start([SERVER, "-c", member.configuration],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    @staticmethod
    def is_complete(member, count):
        """The server leads the cluster, and others follow."""
        meta = member.says().get("meta_cluster", {})
        followers = [r for r in meta.get("replicas") or [] if r["current"]]
        return meta.get("leader") == member.name and len(followers) == count - 1

    def leader(self, members, stream):
        """The server that leads the stream."""
        found = []

        def look():
            names = {m.streams().get(stream, {}).get("cluster", {}).get("leader")
                     for m in members}
            found[:] = [m for m in members if m.name in names]
            return len(found) == 1
        self.until(look, f"the servers do not agree on who leads {stream}")
        return found[0]

    def until(self, holds, complaint):
        if not self.comes(holds, patience_s=90):
            self.fail(complaint)

    @staticmethod
    def comes(holds, patience_s):
        end = time.monotonic() + patience_s
        while not holds():
            if time.monotonic() > end:
                return False
            time.sleep(0.1)
        return True

    def worker(self, name, address=None, **environment):
        w = self.start([self.program, "worker", address or self.address, name, *self.tls],
                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                       env={**os.environ, **environment})
        if w.stdout.readline() != "ready\n":
            self.fail(f"worker {name}: {w.stdout.read()}")
        return w

    def coordinator(self, items=ITEMS, work_us=WORK_US, patience=60000, address=None, tail=None,
                    environment=None, **more):
        environment = dict(environment or {})
        if tail is not None:
            environment["CLUSTER_TAIL"] = str(tail)
        return self.start([self.program, "coordinator", address or self.address, self.journal,
                           str(items), str(work_us), str(patience), *self.tls],
                          stdout=subprocess.PIPE, env={**os.environ, **environment}, **more)

    def until_delivered(self, coordinator, count=3):
        """Returns once results of the batch were delivered, and more are to come."""
        for _ in range(count):
            line = coordinator.stdout.readline()
            self.assertTrue(line.startswith("delivered"), line)

    def outcome(self, coordinator, timeout=150):
        said, _ = coordinator.communicate(timeout=timeout)
        return self.parsed(said)

    @staticmethod
    def parsed(said):
        result = {}
        for line in said.splitlines():
            name, _, value = line.partition(" ")
            result[name] = int(value) if value.isdigit() else value
        return result

    def expect_all(self, coordinator, items=ITEMS, timeout=150):
        found = self.outcome(coordinator, timeout)
        self.assertEqual(coordinator.returncode, 0, found)
        self.assertEqual((found["results"], found["wrong"], found["poisoned"]), (items, 0, 0),
                         found)
        if found["corrected"] == 0:
            self.expect_each_once(items)
        return found

    def expect_each_once(self, items=ITEMS):
        """The journal has one record for each item."""
        told = subprocess.run([self.program, "journal", self.journal, str(items)], check=True,
                              capture_output=True, text=True, timeout=100)
        self.assertEqual(told.stdout, f"records {items}\nonce {items}\n")
