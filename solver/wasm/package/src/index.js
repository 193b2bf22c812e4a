// Exports of the package; node.js and web.js add the place where it runs.
export { BasalSolverError } from "./errors.js";
export { Pool } from "./pool.js";
export {
  Matrix,
  load,
  memory,
  pagerank,
  pagerankMatrix,
  pagerankOf,
  solve,
  solveSync,
  topK,
  vectorFromMarket,
} from "./solver.js";
