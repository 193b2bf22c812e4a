// Results have the bits of the native solver's.

import assert from "node:assert/strict";
import test from "node:test";

import { basal, bits, nativeSystems } from "./support.js";

const systems = nativeSystems();

const answers = {
  solve: (matrix, { b, options }) => basal.solveSync(matrix, b, options),
  pagerank: (matrix, { b, options }) => basal.pagerank(matrix, b, options),
  topK(matrix, { place }) {
    const top = basal.topK(matrix, [[place, 0.15]]);
    return {
      x: Float64Array.from(top.entries.flatMap(({ index, value }) => [index, value])),
      iterations: top.pushes,
      state: "running",
      residual: 1,
      halfWidth: 0,
    };
  },
};

test("there are 200 systems", () => assert.ok(systems.length >= 200, `${systems.length}`));

test("each solution, residual, state and reason is native's", () => {
  const different = [];
  systems.forEach((system, i) => {
    const matrix = new basal.Matrix(system);
    const is = answers[system.kind](matrix, system);
    const asked = JSON.stringify(system.options);
    const name = `${i} ${system.kind} ${system.family} ${asked} ${system.why}`;
    if (bits(is.x) !== bits(system.x))
      different.push(`${name}: x after ${is.iterations}, not ${system.iterations}`);
    for (const field of ["state", "iterations", "residual", "halfWidth"])
      if (!Object.is(is[field], system[field]))
        different.push(`${name}: ${field} ${is[field]}, not ${system[field]}`);
    if (system.why && is.why !== system.why) different.push(`${name}: why ${is.why}`);
    matrix.dispose();
  });
  assert.deepEqual(different, []);
});

test("pieces, pools and workers of any number give the same bits", async () => {
  const some = systems.filter(({ kind }) => kind === "solve").slice(0, 40);
  const matrices = some.map((system) => new basal.Matrix(system));
  for (const workers of [1, 3]) {
    for (const mode of ["shared", "copied"]) {
      const pool = new basal.Pool({ workers, mode });
      const results = await pool.solveBatch(
        some.map(({ b, options }, i) => ({ matrix: matrices[i], b, ...options })),
      );
      assert.equal(pool.mode, mode);
      results.forEach((result, i) => assert.equal(bits(result.x), bits(some[i].x), `${i}`));
      pool.dispose();
    }
  }
  for (const [i, system] of some.entries())
    assert.equal(
      bits((await basal.solve(matrices[i], system.b, system.options)).x),
      bits(system.x),
    );
  for (const matrix of matrices) matrix.dispose();
});
