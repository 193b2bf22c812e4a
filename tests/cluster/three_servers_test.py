#!/usr/bin/env python3
"""A batch over three servers that keep copies of everything, of which one is killed or cut off.

usage: three_servers_test.py CLUSTER_PROCESS FOLDER_OF_CERTIFICATES_PY [unittest arguments]

Exit status 77, which ctest takes for skipped, where there is no nats-server. After each case the
journal has every item once, with the bits of this machine.
"""
import subprocess
import time
import unittest

import fixture
from nats_proxy import TO_CLIENT, TO_SERVER, Cable

ITEMS = 20_000
SEED = 15  # of the items' lengths
STREAMS = ("basal-items", "basal-results", "basal-shared")
PATIENCE_S = 300


class ThreeServersTest(fixture.ClusterTest):
    def begin(self, **more):
        batch = self.coordinator(ITEMS, patience=120_000, tail=SEED, **more)
        self.until_delivered(batch)
        return batch

    def expect_all_equal(self, batch):
        begun = time.monotonic()
        found = self.expect_all(batch, ITEMS, PATIENCE_S)
        print(f"{time.monotonic() - begun:.1f} s after the fault: {found}", flush=True)
        self.assertEqual((found["mismatches"], found["corrected"]), (0, 0), found)

    def copies(self, members):
        return {stream: 1 + len(self.leader(members, stream).streams()[stream]["cluster"]
                                .get("replicas") or []) for stream in STREAMS}

    def test_the_leader_is_killed(self):
        members = self.cluster()
        self.worker("a")
        self.worker("b")
        batch = self.begin()
        self.assertEqual(self.copies(members), dict.fromkeys(STREAMS, 3))
        self.leader(members, "basal-items").kill()
        self.worker("c")  # while the others elect another one
        self.expect_all_equal(batch)

    def test_processes_start_as_the_leader_is_killed(self):
        members = self.cluster()
        self.worker("a")  # makes the streams
        self.leader(members, "basal-items").kill()
        batch = self.coordinator(200)
        self.worker("b")
        self.expect_all(batch, 200)

    def test_processes_start_before_there_are_streams_as_the_leader_is_killed(self):
        members = self.cluster()
        leader = next(m for m in members if self.is_complete(m, len(members)))
        leader.kill()
        batch = self.coordinator(200)
        worker = self.start([self.program, "worker", self.address, "a"], stdout=subprocess.PIPE)
        time.sleep(8)
        self.start_member(leader)
        self.expect_all(batch, 200)
        self.assertEqual(worker.stdout.readline(), "ready\n")
        self.assertEqual(self.copies(members), dict.fromkeys(STREAMS, 3))

    def test_one_of_three_servers_elects_nobody(self):
        members = self.cluster()
        self.worker("a")
        for m in members[1:]:
            m.kill()
        begun = time.monotonic()
        found = self.outcome(self.coordinator(1))
        self.assertIn(found["error"], ("too_few_servers", "no_server"), found)
        self.assertIn("more than half", found["said"].lower())
        self.assertGreater(time.monotonic() - begun, 20)  # longer than an election

    def test_a_follower_is_killed_and_comes_back(self):
        members = self.cluster()
        self.worker("a")
        self.worker("b")
        batch = self.begin()
        leader = self.leader(members, "basal-items")
        victim = next(m for m in members if m is not leader)
        victim.kill()
        self.until_delivered(batch)
        self.start_member(victim)
        self.expect_all_equal(batch)

    def cut_off(self):
        """Begins a batch whose leader can be cut off from the other two. Gives the leader, and the
        cables to it."""
        cables = {}

        def way(source, target):
            cable = Cable(target.routes)
            self.addCleanup(cable.close)
            cables[source.name, target.name] = cable
            return cable.port
        members = self.cluster(way=way)
        self.worker("maker")  # of the streams
        leader = self.leader(members, "basal-items")
        return leader, members, [c for ends, c in cables.items() if leader.name in ends]

    def test_the_majority_goes_on_without_a_leader_that_is_cut_off(self):
        leader, members, cables = self.cut_off()
        self.worker("in the minority", leader.address)
        self.address = ",".join(m.address for m in members if m is not leader)
        self.worker("in the majority")
        batch = self.begin()
        for c in cables:
            c.cut(TO_CLIENT, TO_SERVER)
        self.expect_all_equal(batch)

    def test_a_coordinator_in_the_minority_goes_on_when_it_is_over(self):
        leader, members, cables = self.cut_off()
        self.worker("a", leader.address)
        self.worker("b", ",".join(m.address for m in members if m is not leader))
        batch = self.begin(address=leader.address)
        for c in cables:
            c.cut(TO_CLIENT, TO_SERVER)
        time.sleep(12)  # after ten, a leader knows that nobody follows
        for c in cables:
            c.mend()
        self.expect_all_equal(batch)

    def test_too_few_servers_are_named(self):
        self.server()
        three = {"CLUSTER_REPLICAS": "3"}
        alone = self.outcome(self.coordinator(1, environment=three))
        self.assertEqual(alone["error"], "too_few_servers", alone)
        self.assertIn("replicas = 1", alone["said"])

    def test_two_of_three_servers_are_too_few_for_three_copies(self):
        members = self.cluster(running=2)
        found = self.outcome(self.coordinator(1))
        self.assertEqual(found["error"], "too_few_servers", found)
        self.assertIn("3 servers", found["said"])
        one = {"CLUSTER_REPLICAS": "1"}
        self.worker("a", **one)
        self.expect_all(self.coordinator(20, environment=one), 20)
        self.assertEqual(self.copies(members[:2]), dict.fromkeys(STREAMS, 1))


if __name__ == "__main__":
    fixture.main(__doc__, at_once=5)
