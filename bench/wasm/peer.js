// One solve by the npm package sublinear-time-solver, or by ours, in a process of its own, since
// the peer prints as it works: node peer.js neumann|basal. Prints { ms, claimed, residual }.
//
// The five-point stencil with 5 on its diagonal, of 10 x 10 unknowns: strictly dominant, as the
// peer demands. Of its methods Neumann is the only one that ends on it: walks and pushes run into
// their limits of time and iterations.

import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const side = 10;
const size = side * side;
const rowIndices = [];
const colIndices = [];
const values = [];
for (let row = 0; row < size; ++row) {
  const add = (column, value) => {
    rowIndices.push(row);
    colIndices.push(column);
    values.push(value);
  };
  if (row >= side) add(row - side, -1);
  if (row % side > 0) add(row - 1, -1);
  add(row, 5);
  if (row % side < side - 1) add(row + 1, -1);
  if (row < size - side) add(row + side, -1);
}
const b = Array.from({ length: size }, (_, i) => Math.sin(i * 1.7));

function relativeResidual(x) {
  const left = Float64Array.from(b);
  values.forEach((value, k) => (left[rowIndices[k]] -= value * x[colIndices[k]]));
  return Math.hypot(...left) / Math.hypot(...b);
}

async function theirs(method) {
  const require = createRequire(join(process.env.BASAL_WASM_PEER, "package.json"));
  const found = require.resolve.paths("sublinear-time-solver")[0];
  const path = join(found, "sublinear-time-solver/dist/core/solver.js");
  const { SublinearSolver } = await import(pathToFileURL(path));
  const solver = new SublinearSolver({
    method,
    epsilon: 1e-6,
    maxIterations: 10_000,
    timeout: 20_000,
  });
  const matrix = { rows: size, cols: size, format: "coo", rowIndices, colIndices, values };
  const start = performance.now();
  const { solution, converged, iterations } = await solver.solve(matrix, b);
  const ms = performance.now() - start;
  const claimed = `converged: ${converged} after ${iterations}`;
  return { ms, claimed, residual: relativeResidual(solution) };
}

async function ours() {
  const path = join(process.env.BASAL_WASM_PACKAGE, "src/node.js");
  const { Matrix, load, solveSync } = await import(pathToFileURL(path));
  await load();
  const rowStarts = new Int32Array(size + 1);
  for (const row of rowIndices) ++rowStarts[row + 1];
  for (let row = 0; row < size; ++row) rowStarts[row + 1] += rowStarts[row];
  const start = performance.now();
  const matrix = new Matrix({
    rows: size,
    columns: size,
    rowStarts,
    columnIndices: Int32Array.from(colIndices),
    values: Float64Array.from(values),
  });
  const { x, state, iterations } = solveSync(matrix, Float64Array.from(b));
  const ms = performance.now() - start;
  return { ms, claimed: `${state} after ${iterations}`, residual: relativeResidual(x) };
}

const method = process.argv[2];
try {
  console.log(JSON.stringify(method === "basal" ? await ours() : await theirs(method)));
} catch (failure) {
  console.log(JSON.stringify({ ms: NaN, failure: failure.message }));
}
process.exit(0);
