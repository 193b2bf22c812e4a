// The package's functions on one instance in this thread.

import { checkArray, checkFunction, checkObject, checkSignal, checkSize } from "./checks.js";
import { Engine, compile } from "./engine.js";
import { refuse } from "./errors.js";
import { host } from "./host.js";
import * as jobs from "./jobs.js";

let loading = null; // of the first load()
let engine = null;
let compiled = null;

/** Loads the module, once; all other functions need it. */
export function load(options = {}) {
  loading ??= (async () => {
    compiled = await compile(options.wasm ?? host.wasm());
    engine = await Engine.start(compiled);
  })().catch((failure) => {
    loading = null; // may be tried again
    throw failure;
  });
  return loading;
}

export function loaded() {
  return engine ?? refuse("not_loaded", "nothing can be done before `await load()`");
}

export function compiledModule() {
  loaded();
  return compiled;
}

/** Bytes of the instance in this thread. */
export function memory() {
  const { wasm } = loaded();
  return { inUse: wasm.bytes_in_use(), reserved: wasm.memory.buffer.byteLength };
}

// Frees what a forgotten matrix holds, some time after it was forgotten.
const forgotten = new FinalizationRegistry(({ from, handle }) => from.wasm.matrix_delete(handle));

/** An immutable sparse matrix in the module's memory. */
export class Matrix {
  #engine;
  #handle;

  constructor(arrays) {
    this.#engine = loaded();
    if (arrays instanceof Adopted) {
      this.#handle = arrays.handle;
    } else {
      const { rows, columns, rowStarts, columnIndices, values } = checkObject(
        arrays,
        "the matrix",
      );
      checkSize(rows, "rows");
      checkSize(columns, "columns");
      checkArray(rowStarts, Int32Array, "rowStarts");
      checkArray(columnIndices, Int32Array, "columnIndices");
      checkArray(values, Float64Array, "values");
      if (rowStarts.length !== rows + 1)
        refuse(
          "dimension_mismatch",
          `${rows} rows need ${rows + 1} rowStarts, not ${rowStarts.length}`,
        );
      if (columnIndices.length !== values.length)
        refuse(
          "dimension_mismatch",
          `${values.length} values need as many columnIndices, not ${columnIndices.length}`,
        );
      this.#handle = this.#engine.newMatrix({ rows, columns, rowStarts, columnIndices, values });
    }
    forgotten.register(this, { from: this.#engine, handle: this.#handle }, this);
  }

  /** Of the text of a Matrix Market file, or its bytes. */
  static fromMarket(text) {
    return new Matrix(new Adopted(loaded().readMatrix(textBytes(text))));
  }

  get handle() {
    if (this.#handle === 0) refuse("disposed", "this matrix was disposed of");
    return this.#handle;
  }

  get rows() {
    return this.#engine.wasm.matrix_rows(this.handle);
  }

  get columns() {
    return this.#engine.wasm.matrix_columns(this.handle);
  }

  get nonzeros() {
    return this.#engine.wasm.matrix_nonzeros(this.handle);
  }

  /** Copies of its arrays. */
  toArrays() {
    const { rows, columns, rowStarts, columnIndices, values } = this.#engine.arrays(this.handle);
    return {
      rows,
      columns,
      rowStarts: rowStarts.slice(),
      columnIndices: columnIndices.slice(),
      values: values.slice(),
    };
  }

  /** Frees its memory; twice is harmless. Solves under way go on. */
  dispose() {
    if (this.#handle === 0) return;
    forgotten.unregister(this);
    this.#engine.wasm.matrix_delete(this.#handle);
    this.#handle = 0;
    for (const tell of this.whenDisposed) tell(this);
    this.whenDisposed.clear();
  }

  /** Pools that have sent it to workers. */
  whenDisposed = new Set();
}

if (Symbol.dispose) Matrix.prototype[Symbol.dispose] = Matrix.prototype.dispose;

// A handle that the module has made already.
class Adopted {
  constructor(handle) {
    this.handle = handle;
  }
}

function textBytes(text) {
  if (typeof text === "string") return new TextEncoder().encode(text);
  return checkArray(text, Uint8Array, "the text");
}

/** A vector of the text of a Matrix Market file, or its bytes. */
export function vectorFromMarket(text) {
  return loaded().readVector(textBytes(text));
}

export function checkMatrix(matrix) {
  if (!(matrix instanceof Matrix))
    refuse("bad_argument", "the matrix is no Matrix of this package");
  return matrix.handle;
}

export function checkSolve(matrix, b, options) {
  checkMatrix(matrix);
  checkArray(b, Float64Array, "b");
  checkObject(options, "the options");
  checkSignal(options.signal);
  checkFunction(options.onProgress, "onProgress");
}

/** Solves A x = b, a slice of 8 ms at a time; other events have their turn in between. */
export async function solve(matrix, b, options = {}) {
  checkSolve(matrix, b, options);
  options.signal?.throwIfAborted();
  return jobs.solveInSlices(loaded(), matrix.handle, b, options, host.pause);
}

/** The same, in one go. */
export function solveSync(matrix, b, options = {}) {
  checkSolve(matrix, b, options);
  options.signal?.throwIfAborted();
  return jobs.solveAtOnce(loaded(), matrix.handle, b, options);
}

/** Ranks of all places of a graph. */
export function pagerank(links, restarts, options = {}) {
  checkMatrix(links);
  checkArray(restarts, Float64Array, "restarts");
  return jobs.pagerank(loaded(), links.handle, restarts, checkObject(options, "the options"));
}

/** The rank of one place for a surfer who starts at another. */
export function pagerankOf(links, source, target, options = {}) {
  checkMatrix(links);
  checkSize(source, "source");
  checkSize(target, "target");
  return jobs.pagerankOf(
    loaded(),
    links.handle,
    source,
    target,
    checkObject(options, "the options"),
  );
}

/** The system whose solutions are ranks, for topK(). */
export function pagerankMatrix(links, restart = 0.15) {
  checkMatrix(links);
  const engine = loaded();
  return engine.withOptions(
    [["restart", String(restart)]],
    (o) => new Matrix(new Adopted(engine.checked(engine.wasm.pagerank_system(links.handle, o)))),
  );
}

/** The k largest entries of the solution for a sparse b: [[place, value], ...]. */
export function topK(matrix, b, options = {}) {
  checkMatrix(matrix);
  if (!Array.isArray(b)) refuse("bad_argument", "b is no array of pairs [place, value]");
  const places = Int32Array.from(b, (pair) => checkSize(pair?.[0], "a place of b"));
  const values = Float64Array.from(b, (pair) => pair[1]);
  return jobs.topK(loaded(), matrix.handle, places, values, checkObject(options, "the options"));
}
