/** Words for what went wrong; up to `internal` the native solver's. */
export type ErrorCode =
  | "dimension_mismatch"
  | "malformed_matrix"
  | "not_finite"
  | "zero_diagonal"
  | "not_symmetric"
  | "no_convergence_expected"
  | "bad_option"
  | "too_large"
  | "bad_file"
  | "internal"
  | "out_of_memory"
  | "bad_argument"
  | "detached"
  | "disposed"
  | "disposed_pool"
  | "not_loaded"
  | "load_failed"
  | "unsupported"
  | "too_busy"
  | "crashed";

export class BasalSolverError extends Error {
  readonly name: "BasalSolverError";
  readonly code: ErrorCode;
}

export type Method = @method@;

export type Preconditioner = @preconditioning@;

export interface MatrixArrays {
  rows: number;
  columns: number;
  /** rows + 1 positions: row i holds the entries rowStarts[i] to rowStarts[i + 1]. */
  rowStarts: Int32Array;
  /** Ascending and unique within each row. */
  columnIndices: Int32Array;
  values: Float64Array;
}

/** An immutable sparse matrix in the module's memory. Free it with dispose(). */
export class Matrix {
  constructor(arrays: MatrixArrays);
  /** The text of a Matrix Market file, or its bytes. */
  static fromMarket(text: string | Uint8Array): Matrix;
  readonly rows: number;
  readonly columns: number;
  readonly nonzeros: number;
  /** Copies. */
  toArrays(): MatrixArrays;
  /** Twice is harmless. Also `[Symbol.dispose]`, where there is one. */
  dispose(): void;
}

export interface SolveOptions {
  /** Default: the router chooses, and `why` says why. */
  method?: Method;
  preconditioner?: Preconditioner;
  /** |b - A x| <= tolerance |b|; default 1e-6. */
  tolerance?: number;
  /** Default 10,000. */
  iterationLimit?: number;
  /** Solve for this entry of x alone. */
  entry?: number;
  /** Of random walks. */
  seed?: number | bigint;
  walksPerStep?: number;
  confidence?: number;
  /** Memory that a factor may take; default 512 MiB. */
  factorBytes?: number;
  /** Record the residual after each iteration. */
  history?: boolean;
  signal?: AbortSignal;
  /** About every 8 ms. */
  onProgress?: (progress: Progress) => void;
}

export interface Progress {
  iterations: number;
  residual: number;
  history?: Float64Array;
}

export interface SolveResult {
  x: Float64Array;
  state: "converged" | "stalled" | "diverged" | "budget_exhausted";
  iterations: number;
  residual: number;
  /** One entry: its interval is x[0] +- halfWidth. */
  halfWidth: number;
  method: Method;
  preconditioner: Preconditioner;
  /** Why this method, which ones failed before it, why it ended. */
  why: string;
  history?: Float64Array;
}

export interface PagerankOptions extends Omit<
  SolveOptions,
  "entry" | "history" | "onProgress" | "signal"
> {
  /** Probability with which the surfer starts again; default 0.15. */
  restart?: number;
}

export interface TopKOptions {
  /** Default 10. */
  k?: number;
  topTolerance?: number;
  pushLimit?: number;
}

export interface TopK {
  entries: { index: number; value: number; halfWidth: number }[];
  settled: boolean;
  certain: boolean;
  pushes: number;
}

/** Loads the module, once; all else needs it. `wasm`: where from, if not beside this code. */
export function load(options?: {
  wasm?:
    | BufferSource
    | Response
    | WebAssembly.Module
    | Promise<BufferSource | Response | WebAssembly.Module>;
}): Promise<void>;

/** Bytes of the instance in this thread. */
export function memory(): { inUse: number; reserved: number };

export function vectorFromMarket(text: string | Uint8Array): Float64Array;

/** Solves A x = b in slices of 8 ms. A solve that does not converge is a state, not an error. */
export function solve(
  matrix: Matrix,
  b: Float64Array,
  options?: SolveOptions,
): Promise<SolveResult>;

/** The same in one go. */
export function solveSync(
  matrix: Matrix,
  b: Float64Array,
  options?: Omit<SolveOptions, "onProgress">,
): SolveResult;

export function pagerank(
  links: Matrix,
  restarts: Float64Array,
  options?: PagerankOptions,
): SolveResult;
export function pagerankOf(
  links: Matrix,
  source: number,
  target: number,
  options?: PagerankOptions,
): SolveResult;

/** The system whose solutions are ranks, for topK(). */
export function pagerankMatrix(links: Matrix, restart?: number): Matrix;

/** The largest entries of the solution for a sparse b. */
export function topK(
  matrix: Matrix,
  b: [place: number, value: number][],
  options?: TopKOptions,
): TopK;

export interface SolveRequest extends SolveOptions {
  matrix: Matrix;
  b: Float64Array;
}

export interface PoolOptions {
  /** Default: as many as there are processors. */
  workers?: number;
  /** Default: "shared" in node and where the page is cross-origin isolated, else "copied". */
  mode?: "shared" | "copied";
  /** Jobs that may wait; beyond it they fail with too_busy. Default: any number. */
  queueLimit?: number;
  /** Starts a worker, where `new URL("./worker-web.js", import.meta.url)` finds none. */
  createWorker?: () => unknown;
}

/** Solves side by side. Results do not depend on the number of workers. */
export class Pool {
  constructor(options?: PoolOptions);
  readonly mode: "shared" | "copied";
  /** For each worker, whether it has a job. */
  readonly activity: boolean[];
  /** Jobs that no worker has begun. */
  readonly waiting: number;
  solve(matrix: Matrix, b: Float64Array, options?: SolveOptions): Promise<SolveResult>;
  pagerank(
    links: Matrix,
    restarts: Float64Array,
    options?: PagerankOptions & { signal?: AbortSignal },
  ): Promise<SolveResult>;
  topK(
    matrix: Matrix,
    b: [place: number, value: number][],
    options?: TopKOptions & { signal?: AbortSignal },
  ): Promise<TopK>;
  /**
   * Requests are taken as workers become idle; results come in their order. A request that failed
   * has its error in its place.
   */
  solveBatch(
    requests: Iterable<SolveRequest> | AsyncIterable<SolveRequest>,
    options?: {
      signal?: AbortSignal;
      onProgress?: (progress: {
        index: number;
        done: number;
        total?: number;
        result: SolveResult | BasalSolverError;
      }) => void;
    },
  ): Promise<(SolveResult | BasalSolverError)[]>;
  /** Ends the workers; what waits or runs fails with disposed_pool. */
  dispose(): void;
}
