// Pools: order, back-pressure, aborts, crashes, memory.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { Worker } from "node:worker_threads";

import {
  basal,
  bits,
  buildFolder,
  packageFolder,
  poisson,
  refusal,
  rightSide,
} from "./support.js";

const side = 20;
const matrix = new basal.Matrix(poisson(side));
const b = rightSide(side * side);
const expected = bits(basal.solveSync(matrix, b).x);

const slowSide = 200;
const slowMatrix = new basal.Matrix(poisson(slowSide));
const slowRightSide = rightSide(slowSide * slowSide);

function slowRequest() {
  // Each step leaves 1 - 1.2e-4 of the error: 300,000 steps of 40,000 unknowns to the last bit,
  // where 400 unknowns ended after 2,442, now and then before an abort.
  return {
    matrix: slowMatrix,
    b: slowRightSide,
    method: "neumann",
    tolerance: 0,
    iterationLimit: 1e8,
  };
}

async function withPool(options, f) {
  const pool = new basal.Pool(options);
  try {
    return await f(pool);
  } finally {
    pool.dispose();
  }
}

for (const mode of ["shared", "copied"]) {
  test(`${mode}: results come in the order of requests, and the caller keeps its buffers`, () =>
    withPool({ workers: 2, mode }, async (pool) => {
      assert.equal(pool.mode, mode);
      const sides = Array.from({ length: 12 }, (_, i) => rightSide(side * side, i));
      const seen = [];
      const results = await pool.solveBatch(
        sides.map((each) => ({ matrix, b: each })),
        { onProgress: ({ done, total }) => seen.push([done, total]) },
      );
      results.forEach(({ x }, i) =>
        assert.equal(bits(x), bits(basal.solveSync(matrix, sides[i]).x)),
      );
      assert.deepEqual(
        seen,
        sides.map((_, i) => [i + 1, 12]),
      );
      for (const each of sides) assert.equal(each.length, side * side);
    }));
}

test("a failed request has its error in its place, and the pool goes on", () =>
  withPool({ workers: 2 }, async (pool) => {
    const results = await pool.solveBatch([
      { matrix, b },
      { matrix, b: b.map(() => NaN) },
      { matrix, b: b.subarray(1) },
      { matrix, b: [1, 2] },
      { matrix, b, method: "magic" },
      null,
      { matrix, b },
    ]);
    const codes = [
      ,
      "not_finite",
      "dimension_mismatch",
      "bad_argument",
      "bad_option",
      "bad_argument",
    ];
    codes.forEach((code, i) => assert.ok(refusal(code)(results[i]), `${i}: ${results[i]?.code}`));
    for (const i of [0, 6]) assert.equal(bits(results[i].x), expected);
  }));

test("requests are taken as workers become idle", () =>
  withPool({ workers: 2 }, async (pool) => {
    let taken = 0;
    let done = 0;
    let most = 0;
    async function* requests() {
      for (; taken < 20; ++taken) {
        most = Math.max(most, taken - done);
        yield { matrix, b };
      }
    }
    const results = await pool.solveBatch(requests(), { onProgress: () => ++done });
    assert.equal(results.length, 20);
    assert.ok(most <= 2, `${most} requests were taken and not done`);
  }));

test("a full queue refuses", () =>
  withPool({ workers: 1, queueLimit: 1 }, async (pool) => {
    const first = pool.solve(matrix, b);
    const second = pool.solve(matrix, b);
    await assert.rejects(pool.solve(matrix, b), refusal("too_busy"));
    assert.equal(bits((await first).x), expected);
    assert.equal(bits((await second).x), expected);
  }));

test("an abort ends what runs and what waits, and the worker goes on", () =>
  withPool({ workers: 1 }, async (pool) => {
    const controller = new AbortController();
    const { matrix: a, b: right, ...slow } = slowRequest();
    const progress = new Promise((resolve) => {
      const running = pool.solve(a, right, {
        ...slow,
        signal: controller.signal,
        onProgress: resolve,
      });
      running.catch(() => {});
      pool.aborted = running;
    });
    const waiting = pool.solve(matrix, b, { signal: controller.signal });
    const { residual, iterations } = await progress;
    assert.ok(residual > 0 && iterations > 0);
    assert.deepEqual(pool.activity, [true]);
    controller.abort(new Error("enough"));
    await assert.rejects(pool.aborted, /enough/);
    await assert.rejects(waiting, /enough/);
    assert.equal(bits((await pool.solve(matrix, b)).x), expected);
    await assert.rejects(pool.solve(matrix, b, { signal: controller.signal }), /enough/);
  }));

test("an abort ends a batch", () =>
  withPool({ workers: 2 }, async (pool) => {
    const controller = new AbortController();
    const batch = pool.solveBatch([slowRequest(), slowRequest(), slowRequest()], {
      signal: controller.signal,
    });
    setTimeout(() => controller.abort(), 50);
    await assert.rejects(batch, { name: "AbortError" });
  }));

// A worker that ends itself instead of answering, as often as a shared counter says.
const crashing = join(buildFolder, "crashing-worker.mjs");
writeFileSync(
  crashing,
  `import { parentPort, workerData } from "node:worker_threads";
import ${JSON.stringify(join(packageFolder, "src/worker-node.js"))};
const answer = parentPort.postMessage.bind(parentPort);
parentPort.postMessage = (message, transfer) => {
  if (message.job && Atomics.sub(workerData, 0, 1) > 0) process.exit(3);
  answer(message, transfer);
};
`,
);

function crashes(count) {
  const left = new Int32Array(new SharedArrayBuffer(4));
  left[0] = count;
  return { createWorker: () => new Worker(crashing, { workerData: left }) };
}

for (const mode of ["shared", "copied"])
  test(`${mode}: a crashed worker is replaced and its job runs once more`, () =>
    withPool({ workers: 2, mode, ...crashes(1) }, async (pool) => {
      const results = await pool.solveBatch(Array.from({ length: 6 }, () => ({ matrix, b })));
      for (const { x } of results) assert.equal(bits(x), expected);
      assert.equal(pool.activity.length, 2);
    }));

test("a job with which two workers crash fails, and the pool goes on", () =>
  withPool({ workers: 1, ...crashes(2) }, async (pool) => {
    await assert.rejects(pool.solve(matrix, b), refusal("crashed"));
    assert.equal(bits((await pool.solve(matrix, b)).x), expected);
  }));

test("workers that do not start are an error, not a loop", async () => {
  const broken = new URL("data:text/javascript,throw new Error('no')");
  const pool = new basal.Pool({ workers: 1, createWorker: () => new Worker(broken) });
  await assert.rejects(pool.solve(matrix, b), refusal("load_failed"));
});

test("dispose ends what is under way; a disposed matrix is refused", async () => {
  const pool = new basal.Pool({ workers: 1 });
  const { matrix: a, b: right, ...slow } = slowRequest();
  const running = pool.solve(a, right, slow);
  const waiting = pool.solve(matrix, b);
  pool.dispose();
  pool.dispose();
  await assert.rejects(running, refusal("disposed_pool"));
  await assert.rejects(waiting, refusal("disposed_pool"));
  await assert.rejects(pool.solve(matrix, b), refusal("disposed_pool"));
  await withPool({ workers: 1 }, async (other) => {
    const gone = new basal.Matrix(poisson(3));
    const first = other.solve(matrix, b);
    const late = other.solve(gone, rightSide(9)); // waits for the first
    gone.dispose();
    await assert.rejects(late, refusal("disposed"));
    await first;
  });
});

test("ranks from a worker are those from here", () =>
  withPool({ workers: 1 }, async (pool) => {
    const links = new basal.Matrix({
      rows: 4,
      columns: 4,
      rowStarts: Int32Array.of(0, 2, 3, 4, 5),
      columnIndices: Int32Array.of(1, 2, 2, 0, 2),
      values: Float64Array.of(1, 1, 1, 1, 1),
    });
    const restarts = Float64Array.of(1, 1, 1, 1);
    assert.equal(
      bits((await pool.pagerank(links, restarts)).x),
      bits(basal.pagerank(links, restarts).x),
    );
    const system = basal.pagerankMatrix(links);
    const question = [[[0, 0.15]], { k: 2 }];
    assert.deepEqual(await pool.topK(system, ...question), basal.topK(system, ...question));
  }));
