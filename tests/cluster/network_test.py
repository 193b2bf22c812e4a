#!/usr/bin/env python3
"""A batch over networks that repeat, delay, reorder and lose messages, and over those that are cut.

usage: network_test.py CLUSTER_PROCESS CERTIFICATES_FOLDER [--soak] [unittest arguments]

Seeds are printed; BASAL_SEED=N draws the same again. --soak repeats the last case alone, in which
everything happens at once, for BASAL_SOAK_S seconds, an hour if that is not set: with one seed
after the other, from the first one on.
"""
import collections
import contextlib
import json
import os
import random
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import unittest

import fixture
from fixture import ITEMS
from nats_proxy import TO_CLIENT, TO_SERVER, Proxy

TAIL_ITEMS = 20_000
LEASE_S = 1
PATIENCE_S = 30  # of a process that starts
ELECTING = {"code": 503, "err_code": 10008,
            "description": "JetStream system temporarily unavailable"}
SOAK_S = 0


NEAR, FAR = "10.77.0.1", "10.77.0.2"
IS_ROOT = os.geteuid() == 0 and shutil.which("ip") is not None
HAS_OPENSSL = shutil.which("openssl") is not None


def seed():
    return int(os.environ.get("BASAL_SEED", random.SystemRandom().randrange(2 ** 32)))


def say_seed(drawn):
    print(f"BASAL_SEED={drawn}", flush=True)
    return drawn


class NetworkTest(fixture.ClusterTest):
    def proxy(self, *arguments, **more):
        result = Proxy(self.port, *arguments, **more)
        self.addCleanup(result.close)
        result.address = f"nats://127.0.0.1:{result.port}"
        return result

    def test_what_arrives_twice_late_and_in_another_order(self):
        drawn = say_seed(seed())
        self.server()
        items = [self.proxy(drawn + i, delay_s=0.03, repeat=0.2) for i in (1, 2)]
        self.worker("a", items[0].address)
        self.worker("b", items[1].address)
        batch = self.coordinator(address=self.proxy(drawn, delay_s=0.03).address)
        found = self.expect_all(batch)
        self.assertEqual(found["mismatches"], 0)
        for p in items:
            self.assertGreater(p.repeated, 0)
            self.assertGreater(p.delayed, 0)

    def test_the_manifest_counts_the_results_that_arrive_twice(self):
        self.server()
        # Items that take longer than a message should go alone: a message is a result.
        items, work_us = 240, 40_000
        results = self.proxy(say_seed(seed()), repeat=0.3, only=b"basal.results.")
        self.worker("a")
        self.worker("b")
        batch = self.coordinator(items, work_us, address=results.address)
        self.until_delivered(batch, 4)  # 0, 50, 100 and 150: then no more, so that none is too late
        results.calm()
        found = self.expect_all(batch, items)
        self.assertGreater(results.repeated, 0)
        # On a busy machine a lease may end: that result comes twice as well.
        self.assertGreaterEqual(found["duplicates"], results.repeated, found)
        self.assertLessEqual(found["duplicates"], results.repeated + found["redeliveries"], found)
        self.assertEqual(found["mismatches"], 0)

    def test_a_shared_value_that_was_damaged_on_its_way_is_fetched_again(self):
        self.server()
        damaged = []

        def damage(frame):
            at = frame.find(b'"data":"')  # of a stored message, in base64
            if b'"subject":"basal.shared.' not in frame or at < 0 or len(damaged) == 2:
                return frame
            damaged.append(at)
            at += 1000  # behind it, so many values are others that each item meets one
            return frame[:at] + frame[at:at + 500_000][::-1] + frame[at + 500_000:]
        self.worker("a", self.proxy(0, change=damage).address)
        found = self.expect_all(self.coordinator(items=200), 200)
        self.assertEqual(len(damaged), 2)
        self.assertEqual((found["mismatches"], found["corrected"]), (0, 0), found)

    def test_a_worker_has_never_asked_for_more_than_it_has_room_for(self):
        """A request that ends says how many messages did not come, and those alone are asked for
        again: what another request still asks for is not forgotten."""
        self.server()
        books = Requests()
        self.worker("a", self.proxy(0, change=books.seen).address, CLUSTER_EXECUTORS="2")

        def until_one_ends():
            ended = books.ended
            self.until(lambda: books.ended > ended, "no request ends")
        for _ in range(10):
            until_one_ends()
            # One item after another: for those that are done, others are asked for meanwhile, so
            # that such requests are open when the first one ends.
            for _ in range(3):
                self.expect_all(self.coordinator(items=1), 1)
                os.remove(self.journal)
            until_one_ends()
            if books.ended_beside_others > 0:
                break
        self.assertGreater(books.ended_beside_others, 0)
        time.sleep(0.5)  # the next request follows at once
        self.assertEqual(books.most_open, books.room)

    def electing(self, *kinds, times):
        """A proxy to a server that says to the first `times` requests of each of these kinds what
        one says whose cluster has no leader. `store`: no answer to what is stored."""
        said = collections.Counter()

        def change(frame):
            head, _, body = frame.partition(b"\r\n")
            answered = re.match(rb'{"type":"io\.nats\.jetstream\.api\.v1\.(\w+)_response"', body)
            kind = answered[1].decode() if answered else \
                "store" if body.startswith(b'{"stream":') else ""
            if kind not in kinds or said[kind] == times:
                return frame
            said[kind] += 1
            if kind == "store":
                return b""
            answer = json.dumps({**json.loads(answered[0] + b"}"), "error": ELECTING}).encode()
            words = head.split()[:-1] + [str(len(answer)).encode()]
            return b" ".join(words) + b"\r\n" + answer + b"\r\n"
        result = self.proxy(0, change=change)
        result.said = said
        return result

    def test_processes_that_start_during_an_election_wait_for_it(self):
        self.server()
        worker, coordinator = [
            self.electing("stream_info", "stream_create", "consumer_info", "consumer_create",
                          "stream_purge", "store", times=3) for _ in range(2)]
        self.worker("a", worker.address)
        self.expect_all(self.coordinator(items=20, address=coordinator.address), 20)
        everybody = {"stream_info": 3, "consumer_info": 3, "consumer_create": 1}
        self.assertEqual(worker.said | everybody, worker.said, "requests that were not made")
        everybody.update(stream_purge=3, store=3)
        self.assertEqual(coordinator.said | everybody, coordinator.said)

    def test_processes_that_start_say_after_their_patience_that_there_is_no_leader(self):
        self.server()
        self.worker("maker")  # of the streams
        begun = time.monotonic()
        address = self.electing("consumer_info", times=1e9).address
        started = [self.start([self.program, "worker", address, "a"], stdout=subprocess.PIPE)]
        for i, kind in enumerate(("stream_info", "consumer_info", "stream_purge")):
            self.journal = os.path.join(self.folder, f"journal-{i}")
            started.append(self.coordinator(
                items=1, address=self.electing(kind, times=1e9).address))
        for process in started:
            found = self.outcome(process)
            self.assertGreaterEqual(time.monotonic() - begun, PATIENCE_S, found)
            self.assertLess(time.monotonic() - begun, PATIENCE_S + 15, found)
            self.assertEqual((process.returncode, found["error"]), (1, "too_few_servers"), found)
            self.assertRegex(found["said"], "after (29|3[0-9]) s.*start those that are missing")

    def cut_a_worker(self, *directions):
        self.server()
        link = self.proxy(0)
        self.worker("a", link.address)
        self.worker("b")
        batch = self.coordinator(items=6000)
        self.until_delivered(batch)
        link.cut(*directions)
        time.sleep(5 * LEASE_S)
        link.mend()
        self.assertEqual(self.expect_all(batch, 6000)["mismatches"], 0)

    def test_a_worker_is_cut_off(self):
        self.cut_a_worker(TO_CLIENT, TO_SERVER)

    def test_a_worker_is_not_heard(self):
        self.cut_a_worker(TO_SERVER)

    def test_a_worker_hears_nothing(self):
        self.cut_a_worker(TO_CLIENT)

    def test_the_coordinator_is_cut_off(self):
        self.server()
        link = self.proxy(0)
        self.worker("a")
        self.worker("b")
        batch = self.coordinator(address=link.address)
        self.until_delivered(batch)
        link.cut(TO_CLIENT, TO_SERVER)
        time.sleep(10)
        link.mend()
        self.assertEqual(self.expect_all(batch)["mismatches"], 0)

    def test_a_worker_with_another_version_of_the_function(self):
        self.server()
        other = self.worker("other", CLUSTER_VERSION="2")
        alone = self.coordinator(items=20, patience=500)
        found = self.outcome(alone)
        self.assertEqual((alone.returncode, found["error"]), (1, "no_worker"), found)
        self.assertIn("other has walk, version 2", found["said"])
        self.worker("a")
        self.expect_all(self.coordinator(items=20), 20)
        other.send_signal(signal.SIGTERM)
        self.assertIn("items 0\n", other.communicate(timeout=60)[0])

    @unittest.skipUnless(HAS_OPENSSL, "there is no openssl")
    def test_a_server_that_speaks_an_old_tls_is_refused(self):
        import certificates
        ca, _ = certificates.make(self.folder, "ca")
        server = certificates.make(self.folder, "server", certificates.LOOPBACK, authority="ca")
        client = certificates.make(self.folder, "client", authority="ca")
        self.tls = [ca, *client]
        old, new = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3
        for newest, expected in ((old, None), (new, "TLSv1.3")):
            with greeter(server, ca, newest) as (port, seen):
                found = self.outcome(self.coordinator(1, address=f"nats://127.0.0.1:{port}"))
                # The one with TLS 1.3 hangs up afterwards: it is no nats-server.
                self.assertIn(found["error"], ("refused", "no_server"), found)
                self.assertEqual(seen, [expected], found)

    def two_spaces(self):
        """Two network namespaces, a cable between them, and TLS since no address is loopback. The
        server runs in the near one. Gives what ip does there, and the names of the spaces."""
        import certificates
        near, far = f"basal-{os.getpid()}-a", f"basal-{os.getpid()}-b"
        cable = f"bsl{os.getpid()}"[:13]

        def ip(*words, check=True):
            return subprocess.run(["ip", *words], check=check, capture_output=True, text=True)
        if ip("netns", "add", near, check=False).returncode != 0:
            self.skipTest("this machine makes no network namespaces")
        self.addCleanup(ip, "netns", "del", near)
        ip("netns", "add", far)
        self.addCleanup(ip, "netns", "del", far)
        ip("link", "add", cable, "netns", near, "type", "veth",
           "peer", "name", cable, "netns", far)
        for space, address in ((near, NEAR), (far, FAR)):
            ip("-n", space, "addr", "add", address + "/24", "dev", cable)
            ip("-n", space, "link", "set", cable, "up")
            ip("-n", space, "link", "set", "lo", "up")
        ca, _ = certificates.make(self.folder, "ca")
        cert, key = certificates.make(self.folder, "server", f"subjectAltName=IP:{NEAR}",
                                      authority="ca")
        self.tls = [ca, *certificates.make(self.folder, "client", authority="ca")]
        self.address = f"nats://{NEAR}:{self.port}"
        self.prefix = ["ip", "netns", "exec", near]
        self.server("--tls", "--tlscert", cert, "--tlskey", key, "--tlsverify", "--tlscacert", ca,
                    host=NEAR)
        return ip, near, far, cable

    @unittest.skipUnless(IS_ROOT, "only root makes namespaces")
    @unittest.skipUnless(HAS_OPENSSL, "there is no openssl")
    def test_a_cable_is_pulled(self):
        ip, near, far, cable = self.two_spaces()
        self.worker("near")
        batch = self.coordinator(items=6000)
        self.prefix = ["ip", "netns", "exec", far]
        self.worker("far")
        self.until_delivered(batch)
        ip("-n", near, "link", "set", cable, "down")
        time.sleep(5 * LEASE_S)
        ip("-n", near, "link", "set", cable, "up")
        self.assertEqual(self.expect_all(batch, 6000)["mismatches"], 0)

    @unittest.skipUnless(IS_ROOT, "only root makes namespaces")
    @unittest.skipUnless(HAS_OPENSSL, "there is no openssl")
    def test_packets_are_dropped_one_way_and_both_ways(self):
        """Packets go to a station that is not there, and nobody says so: what a firewall's DROP
        does. First the worker alone is cut off until the batch is done without it, then the
        coordinator and the worker, for ten seconds."""
        ip, near, far, cable = self.two_spaces()
        to_server, to_client = (far, NEAR), (near, FAR)

        def drop(*ways):
            for space, target in ways:
                ip("-n", space, "neigh", "replace", target, "lladdr", "02:00:00:00:00:01",
                   "nud", "permanent", "dev", cable)

        def mend(*ways):
            for space, target in ways:
                ip("-n", space, "neigh", "del", target, "dev", cable)
        near_prefix, far_prefix = self.prefix, ["ip", "netns", "exec", far]
        self.worker("near")
        self.prefix = far_prefix
        self.worker("far")
        for ways in ((to_server,), (to_client,), (to_server, to_client)):
            self.prefix = near_prefix
            batch = self.coordinator()
            self.until_delivered(batch)
            drop(*ways)
            dropped = time.monotonic()
            found = self.expect_all(batch)
            print(f"{time.monotonic() - dropped:.1f} s without the worker: {found}", flush=True)
            self.assertEqual(found["mismatches"], 0)
            mend(*ways)
            os.remove(self.journal)
            self.prefix = far_prefix
            batch = self.coordinator()
            self.until_delivered(batch)
            drop(*ways)
            time.sleep(10)
            if to_client in ways:  # else what was on its way may have been all
                self.assertIsNone(batch.poll(), "nothing was dropped")
            mend(*ways)
            self.assertEqual(self.expect_all(batch)["mismatches"], 0)
            self.prefix = []
            os.remove(self.journal)

    def test_everything_at_once(self):
        until = time.monotonic() + SOAK_S
        drawn = seed()
        self.storm(drawn)
        while time.monotonic() < until:
            os.remove(self.journal)
            drawn += 1
            self.storm(drawn)

    def storm(self, drawn):
        """20,000 items with a heavy tail: messages come twice, late and in another order; workers
        are killed, frozen and cut off, and the server is killed."""
        dice = random.Random(say_seed(drawn))
        server = self.server()
        links = [self.proxy(drawn + i, delay_s=0.01, repeat=0.05) for i in range(3)]
        workers = {i: self.worker(str(i), links[i].address) for i in range(3)}
        # An item may be in the hands of five workers that die, through no fault of its own.
        batch = self.coordinator(TAIL_ITEMS, patience=120_000, tail=drawn,
                                 address=self.proxy(drawn, repeat=0.05, delay_s=0.01).address,
                                 environment={"CLUSTER_TRIES": "100"})
        found, done = {}, threading.Event()

        def finish():
            try:
                found.update(self.expect_all(batch, TAIL_ITEMS, timeout=300))
            finally:
                done.set()
        reader = threading.Thread(target=finish)
        reader.start()
        happened = []
        while not done.wait(dice.uniform(0.3, 1)):
            i = dice.randrange(3)
            what = dice.choice(("kill", "freeze", "cut", "restart"))
            happened.append(what)
            if what == "kill":
                workers[i].kill()
                workers[i] = self.worker(f"{i}-{len(happened)}", links[i].address)
            elif what == "freeze":
                workers[i].send_signal(signal.SIGSTOP)
                done.wait(2 * LEASE_S)
                workers[i].send_signal(signal.SIGCONT)
            elif what == "cut":
                links[i].cut(*dice.choice(((TO_CLIENT,), (TO_SERVER,), (TO_CLIENT, TO_SERVER))))
                done.wait(2 * LEASE_S)
                links[i].mend()
            elif happened.count("restart") <= 3:
                server.kill()
                server.wait()
                server = self.server()
        reader.join()
        print(f"{', '.join(happened)}: {found}", flush=True)
        self.assertEqual(found.get("mismatches"), 0)
        self.end()


class Requests:
    """The messages that a worker has asked for and not got, as a proxy sees them pass."""

    def __init__(self):
        self.room = None  # of a worker that has nothing to do: its first request
        self.open = self.most_open = self.ended = self.ended_beside_others = 0

    def seen(self, frame):
        head, _, rest = frame.partition(b"\r\n")
        if b"CONSUMER.MSG.NEXT.basal-items." in head:
            count = json.loads(rest)["batch"]
            self.room = self.room or count
            self.open += count
            self.most_open = max(self.most_open, self.open)
        elif head.startswith((b"MSG ", b"HMSG ")) and b" $JS.ACK.basal-items." in head:
            self.open -= 1
        elif missed := re.search(rb"Nats-Pending-Messages: (\d+)", rest):
            self.open -= int(missed[1])
            self.ended += 1
            self.ended_beside_others += self.open > 0
        return frame


@contextlib.contextmanager
def greeter(server, authority, newest):
    """The beginning of a server with TLS up to that version: says that it needs TLS, shakes hands
    and hangs up. Gives its port, and the list to which it adds the version or None."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=authority)
    context.load_cert_chain(*server)
    context.verify_mode = ssl.CERT_REQUIRED
    context.maximum_version = newest
    listener = socket.create_server(("127.0.0.1", 0))
    seen = []

    def serve():
        peer, _ = listener.accept()
        with peer:
            peer.sendall(b'INFO {"server_id":"T","version":"2.9.10","proto":1,"headers":true,'
                         b'"jetstream":true,"max_payload":1048576,"tls_required":true,'
                         b'"tls_verify":true}\r\n')
            try:
                with context.wrap_socket(peer, server_side=True) as secured:
                    seen.append(secured.version())
            except OSError:
                seen.append(None)
    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield listener.getsockname()[1], seen
    finally:
        thread.join(30)
        listener.close()


if __name__ == "__main__":
    if "--soak" in sys.argv:
        SOAK_S = float(os.environ.get("BASAL_SOAK_S", 3600))
        sys.argv[sys.argv.index("--soak")] = "NetworkTest.test_everything_at_once"
    fixture.main(__doc__, at_once=5)
