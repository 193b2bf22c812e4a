#!/usr/bin/env python3
"""A batch over processes on loopback, whose parts are killed, frozen and lie.

usage: faults_test.py CLUSTER_PROCESS FOLDER_OF_CERTIFICATES_PY [unittest arguments]

Exit status 77, which ctest takes for skipped, where there is no nats-server. Each case has a server
with a store of its own. After each, every item has one result with the bits of this machine.
"""
import os
import resource
import shutil
import signal
import socket
import subprocess
import time
import unittest

import fixture
from fixture import ITEMS

LEASE_S = 1
LONG_WORK_US = 20_000  # longer than a message should take: each item is one


class FaultsTest(fixture.ClusterTest):
    def test_all_is_well(self):
        self.server()
        workers = [self.worker("a"), self.worker("b")]
        found = self.expect_all(self.coordinator())
        self.assertEqual((found["mismatches"], found["resumed"]), (0, 0))
        for w in workers:
            w.send_signal(signal.SIGTERM)
            said, _ = w.communicate(timeout=60)
            self.assertEqual(w.returncode, 0)
            self.assertGreater(int(said.split()[1]), 0, "a worker that did nothing")

    def test_worker_killed(self):
        self.server()
        victim = self.worker("a")
        self.worker("b")
        batch = self.coordinator()
        self.until_delivered(batch)
        victim.kill()
        self.assertEqual(self.expect_all(batch)["mismatches"], 0)

    def test_a_worker_is_killed_every_two_seconds(self):
        self.server()
        self.worker("stays")
        victim = self.worker("0")
        items, kills = 1000, 0
        batch = self.coordinator(items, LONG_WORK_US)
        self.until_delivered(batch)
        while kills < 10:
            time.sleep(2)
            if batch.poll() is not None:
                break
            victim.kill()
            kills += 1
            victim = self.worker(str(kills))
        self.assertGreater(kills, 2, "the batch is too short")
        found = self.expect_all(batch, items, 300)
        self.assertEqual(found["mismatches"], 0)
        # An item is a message here, and a worker with one executor has four of them in hand. On a
        # busy machine a lease may end: that result comes twice.
        self.assertLessEqual(found["redeliveries"] - found["duplicates"], 4 * kills, found)
        self.assertGreaterEqual(found["redeliveries"], 1, found)

    def test_worker_frozen_beyond_its_lease(self):
        self.server()
        victim = self.worker("a")
        self.worker("b")
        items = 600
        batch = self.coordinator(items, LONG_WORK_US)
        self.until_delivered(batch)
        victim.send_signal(signal.SIGSTOP)
        time.sleep(3 * LEASE_S)
        victim.send_signal(signal.SIGCONT)
        found = self.expect_all(batch, items)
        self.assertEqual(found["mismatches"], 0)
        self.assertGreaterEqual(found["duplicates"], 1, found)  # the result of the frozen one

    def test_server_killed_and_restarted(self):
        server = self.server()
        self.worker("a")
        self.worker("b")
        batch = self.coordinator()
        self.until_delivered(batch)
        server.kill()
        server.wait()
        time.sleep(5)
        self.server()
        self.assertEqual(self.expect_all(batch)["mismatches"], 0)

    def test_server_killed_while_there_is_no_work(self):
        """nats-server 2.9 may then forget how many messages an empty stream had, and its consumer
        waits for one that comes after them. Here it does: what says how many is deleted."""
        server = self.server()
        self.worker("a")
        self.expect_all(self.coordinator(200), 200)
        server.kill()
        server.wait()
        stream = os.path.join(self.folder, "store", "jetstream", "$G", "streams", "basal-items")
        shutil.rmtree(os.path.join(stream, "msgs"))
        self.server()
        self.worker("b")
        os.remove(self.journal)
        self.expect_all(self.coordinator(200), 200, timeout=60)

    def test_store_deleted(self):
        server = self.server()
        self.worker("a")
        self.worker("b")
        batch = self.coordinator()
        self.until_delivered(batch)
        server.kill()
        server.wait()
        shutil.rmtree(os.path.join(self.folder, "store"))
        self.server()
        self.worker("c")  # needs what the items share, which went with the store
        self.assertEqual(self.expect_all(batch)["mismatches"], 0)

    def test_coordinator_killed(self):
        self.server()
        workers = [self.worker("a"), self.worker("b")]
        first = self.coordinator()
        self.until_delivered(first, ITEMS // 50 // 2)
        first.kill()
        first.wait()
        for w in workers:
            w.kill()
        second = self.coordinator()
        self.until_delivered(second, 1)  # from the journal; what the first one posted is taken back
        workers = [self.worker("c"), self.worker("d")]
        found = self.expect_all(second)
        self.assertGreater(found["resumed"], ITEMS // 4)
        for w in workers:
            w.send_signal(signal.SIGTERM)
        solved = [int(w.communicate(timeout=60)[0].split()[1]) for w in workers]
        # Nothing that the journal has; less where the first workers stored what nobody had read.
        self.assertLessEqual(sum(solved), ITEMS - found["resumed"] + found["duplicates"], found)
        again = self.expect_all(self.coordinator())
        self.assertEqual(again["resumed"], ITEMS)

    @unittest.skipUnless(os.geteuid() == 0, "only root mounts a disk")
    def test_a_disk_that_is_full(self):
        disk = os.path.join(self.folder, "disk")
        os.mkdir(disk)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40k", "tmpfs", disk], check=False,
                          capture_output=True).returncode != 0:
            self.skipTest("this machine mounts no disk")
        self.addCleanup(subprocess.run, ["umount", "--lazy", disk], check=False)
        self.journal = os.path.join(disk, "journal")
        self.server()
        self.worker("a")
        first = self.coordinator()
        found = self.outcome(first)
        self.assertEqual((first.returncode, found["error"]), (1, "journal_failed"), found)
        self.assertIn("No space left on device", found["said"])
        self.assertIn("run the same again", found["said"])
        subprocess.run(["mount", "-o", "remount,size=4m", disk], check=True)
        found = self.expect_all(self.coordinator())
        self.assertGreater(found["resumed"], 0)

    def test_disk_full_in_a_running_batch(self):
        def small_disk():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write fails instead
            resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
        self.server()
        self.worker("a")
        self.worker("b")
        first = self.coordinator(preexec_fn=small_disk, restore_signals=False)
        self.until_delivered(first, 1)
        found = self.outcome(first)
        self.assertEqual((first.returncode, found["error"]), (1, "journal_failed"), found)
        found = self.expect_all(self.coordinator())
        self.assertGreater(found["resumed"], 0)
        self.assertEqual(found["mismatches"], 0)

    def test_a_worker_flips_a_bit(self):
        self.server()
        liar = self.worker("liar", CLUSTER_FLIP="1")
        batch = self.coordinator()
        self.until_delivered(batch, 1)  # of the liar's, since nobody else is there
        self.worker("a")
        self.worker("b")
        found = self.expect_all(batch)
        self.assertEqual(found["quarantined"], "liar")
        self.assertGreater(found["corrected"], 0)
        self.assertGreater(found["mismatches"], 0)
        said, _ = liar.communicate(timeout=60)
        self.assertIn("has other bits", said)

    def test_what_is_missing_is_named(self):
        def failure(**how):
            c = self.coordinator(**how)
            found = self.outcome(c)
            self.assertEqual(c.returncode, 1)
            return found["error"], found["said"]
        error, said = failure()
        self.assertEqual(error, "no_server", said)
        error, said = failure(address="nats://192.0.2.1:4222")
        self.assertEqual(error, "refused", said)
        self.assertIn("ca_file", said)
        self.assertEqual(failure(address="teapot")[0], "bad_option")
        error, said = failure(address="nats://127.0.0.1:teapot")
        self.assertEqual(error, "bad_option", said)
        self.assertIn("nats://HOST:PORT", said)
        self.tls = ["/nowhere/ca.pem", "/nowhere/us.pem", "/nowhere/us.key"]
        error, said = failure()
        self.assertEqual(error, "refused", said)
        self.assertIn("/nowhere/ca.pem cannot be used for TLS", said)
        self.tls = []
        self.server()
        error, said = failure(patience=100)
        self.assertEqual(error, "no_worker", said)
        self.assertIn("none answers", said)
        os.remove(self.journal)
        self.worker("a")
        self.expect_all(self.coordinator(items=20), 20)
        error, said = failure(items=21)
        self.assertEqual(error, "other_batch", said)

    def test_a_server_without_jetstream_or_with_other_users(self):
        configuration = os.path.join(self.folder, "server.conf")
        for settings, error, remedy in (("", "no_server", "nats-server with -js"),
                                        ("authorization { user: a, password: b }", "refused",
                                         "configuration says who may connect")):
            with open(configuration, "w", encoding="ascii") as file:
                file.write(f'listen: "127.0.0.1:{self.port}"\n{settings}\n')
            server = self.start([fixture.SERVER, "-c", configuration], stderr=subprocess.DEVNULL)
            self.until(self.listens, "the server does not listen")
            found = self.outcome(self.coordinator(1))
            self.assertEqual(found["error"], error, found)
            self.assertIn(remedy, found["said"])
            server.kill()
            server.wait()

    def listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        except OSError:
            return False
        return True

    @unittest.skipUnless(shutil.which("openssl"), "no openssl to make certificates with")
    def test_tls_with_certificates_on_both_sides(self):
        import certificates
        ca, _ = certificates.make(self.folder, "ca")
        cert, key = certificates.make(self.folder, "server", certificates.LOOPBACK, authority="ca")
        client = certificates.make(self.folder, "client", authority="ca")
        other = certificates.make(self.folder, "other")
        self.server("--tls", "--tlscert", cert, "--tlskey", key, "--tlsverify", "--tlscacert", ca)
        plain = self.outcome(self.coordinator(items=1))
        self.assertEqual(plain["error"], "refused", plain)
        for authority, own in ((other[0], client), (ca, other)):
            self.tls = [authority, *own]
            found = self.outcome(self.coordinator(items=1))
            self.assertIn(found["error"], ("refused", "no_server"), found)
        self.tls = [ca, *client]
        self.worker("a")
        self.expect_all(self.coordinator(items=50), 50)
        if preload := os.environ.get("BASAL_SLOW_RELEASE"):  # none of sanitizers' programs
            os.remove(self.journal)
            self.expect_all(self.coordinator(50, environment={"LD_PRELOAD": preload}), 50)


if __name__ == "__main__":
    fixture.main(__doc__, at_once=5)
