// Uses of the types that must compile under --strict; package.test.js compiles it, nobody runs it.
import { BasalSolverError, Matrix, Pool, load, solveSync, topK } from "basal-solver";
import type { SolveResult } from "basal-solver";

await load();
const matrix: Matrix = Matrix.fromMarket("");
const pool = new Pool({ workers: 2 });
const results: (SolveResult | BasalSolverError)[] = await pool.solveBatch(
  [{ matrix, b: new Float64Array(3), method: "neumann", seed: 7n }],
  { onProgress: ({ done, total }) => console.log(done, total) },
);
const first = results[0];
if (first instanceof BasalSolverError) console.log(first.code === "too_busy");
else console.log(first?.x[0], first?.state === "converged");
console.log(topK(matrix, [[1, 0.15]], { k: 3 }).entries[0]?.index, pool.mode === "shared");
console.log(solveSync(matrix, new Float64Array(1)).why);
