#!/usr/bin/env python3
"""solve --cluster computes the same solutions by two workers as solve does alone.

usage: cluster_test.py SOLVE

Exit status 77, which ctest takes for skipped, where there is no nats-server.
"""
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time


def poisson(path, side):
    """The five-point Laplacian on a square of `side` points."""
    entries = []
    for y in range(side):
        for x in range(side):
            here = y * side + x + 1
            entries.append((here, here, 4))
            if x + 1 < side:
                entries += [(here, here + 1, -1), (here + 1, here, -1)]
            if y + 1 < side:
                entries += [(here, here + side, -1), (here + side, here, -1)]
    with open(path, "w", encoding="ascii") as file:
        file.write("%%MatrixMarket matrix coordinate real general\n")
        file.write(f"{side * side} {side * side} {len(entries)}\n")
        file.writelines(f"{i} {j} {x}\n" for i, j, x in entries)


def main():
    server = shutil.which("nats-server", path=os.environ.get("PATH", "") + ":/usr/sbin")
    if server is None:
        print("skipped: there is no nats-server (Debian: apt install nats-server)")
        sys.exit(77)
    folder = tempfile.mkdtemp(prefix="basal-solve-")
    processes = []
    try:
        matrix = os.path.join(folder, "poisson.mtx")
        poisson(matrix, 60)

        def solve(name, *arguments):
            path = os.path.join(folder, name)
            done = subprocess.run([sys.argv[1], matrix, "--rhs", "40", "--tol", "1e-9", "--output",
                                   path, *arguments], timeout=100, capture_output=True, text=True,
                                  check=False)
            assert done.returncode == 0, done.stderr + done.stdout
            with open(path, encoding="ascii") as file:
                return file.read(), done.stdout

        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        address = f"nats://127.0.0.1:{port}"
        processes.append(subprocess.Popen([server, "-a", "127.0.0.1", "-p", str(port), "-js", "-sd",
                                           os.path.join(folder, "store")],
                                          stderr=subprocess.DEVNULL))
        for _ in range(300):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.05)
        for role in ([matrix], ["--serve"]):
            alone = subprocess.run([sys.argv[1], *role, "--cluster", address, "--replicas", "3"],
                                   timeout=100, capture_output=True, text=True, check=False)
            assert alone.returncode == 2 and "--replicas 1" in alone.stderr, alone
        workers = [subprocess.Popen([sys.argv[1], "--cluster", address, "--serve", "--executors",
                                     "1"]) for _ in range(2)]
        processes += workers
        journal = os.path.join(folder, "journal")
        there, said = solve("there.mtx", "--cluster", address, "--journal", journal)
        assert "40 converged" in said, said
        here, _ = solve("here.mtx")
        assert there == here, "other bits"
        assert os.path.getsize(journal) > 40 * 8 * 3600
        for w in workers:
            w.send_signal(signal.SIGTERM)
        for w in workers:
            assert w.wait(timeout=60) == 0
        again, _ = solve("again.mtx", "--cluster", address, "--journal", journal)
        assert again == here, "the journal has other bits"
        nobody = subprocess.run([sys.argv[1], matrix, "--cluster", "nats://127.0.0.1:1"],
                                timeout=100, capture_output=True, text=True, check=False)
        assert nobody.returncode == 2 and "nats-server" in nobody.stderr, nobody
    finally:
        for p in processes:
            p.kill()
            p.wait()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
