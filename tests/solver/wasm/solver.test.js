// One instance: what it answers, what it refuses, and that its memory comes back.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";

import {
  basal,
  bits,
  corpusFolder,
  packageFolder,
  poisson,
  refusal,
  rightSide,
} from "./support.js";

const small = {
  rows: 2,
  columns: 2,
  rowStarts: Int32Array.of(0, 2, 3),
  columnIndices: Int32Array.of(0, 1, 1),
  values: Float64Array.of(4, 1, 3),
};

test("a matrix gives back what it was made of", () => {
  const matrix = new basal.Matrix(small);
  assert.deepEqual(matrix.toArrays(), small);
  assert.deepEqual([matrix.rows, matrix.columns, matrix.nonzeros], [2, 2, 3]);
  matrix.dispose();
});

test("matrices and vectors are read from Matrix Market text", () => {
  const text = "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 4\n1 2 1\n2 2 3e0\n";
  assert.deepEqual(basal.Matrix.fromMarket(text).toArrays(), small);
  assert.deepEqual(basal.Matrix.fromMarket(new TextEncoder().encode(text)).toArrays(), small);
  const vector = "%%MatrixMarket matrix array real general\n3 1\n+1.5\n-2e-3\n1e-400\n";
  assert.deepEqual(basal.vectorFromMarket(vector), Float64Array.of(1.5, -0.002, 0));
});

test("numbers in files are read as from_chars reads them", () => {
  const read = (number) =>
    basal.vectorFromMarket(`%%MatrixMarket matrix array real general\n1 1\n${number}\n`)[0];
  for (const number of [
    "0.1",
    "2.2250738585072011e-308",
    "5e-324",
    "1.7976931348623157e308",
    ".5",
    "7.",
    "-0",
  ])
    assert.ok(Object.is(read(number), Number(number)), number);
  for (const number of ["0x10", "1e400", "inf", "nan", "--1", "+-1", "-", "1e", "1,5", "1d3"])
    assert.throws(() => read(number), refusal("bad_file"), number);
});

test("what solve() tells", async () => {
  const matrix = new basal.Matrix(poisson(60));
  const b = rightSide(3600);
  const progress = [];
  const options = {
    tolerance: 1e-12,
    history: true,
    preconditioner: "none",
    method: "conjugate_gradient",
  };
  const result = await basal.solve(matrix, b, { ...options, onProgress: (p) => progress.push(p) });
  assert.equal(result.state, "converged");
  assert.equal(result.method, "conjugate_gradient");
  assert.match(result.why, /named by the caller/);
  assert.equal(result.history.length, result.iterations);
  assert.ok(result.residual <= 1e-12);
  for (const { history, iterations } of progress) assert.equal(history.length, iterations);
  assert.equal(bits(result.x), bits(basal.solveSync(matrix, b, options).x));
  matrix.dispose();
});

test("an abort ends a solve between two slices", async () => {
  const matrix = new basal.Matrix(poisson(30));
  const controller = new AbortController();
  const solving = basal.solve(matrix, rightSide(900), {
    method: "neumann",
    tolerance: 0,
    iterationLimit: 1e9,
    signal: controller.signal,
    onProgress: () => controller.abort(new Error("enough")),
  });
  await assert.rejects(solving, /enough/);
  matrix.dispose();
});

const market = (...lines) =>
  ["%%MatrixMarket matrix coordinate real general", ...lines].join("\n");
const detached = () => {
  const array = Float64Array.of(1, 2);
  structuredClone(array.buffer, { transfer: [array.buffer] });
  return array;
};

const refusals = {
  "starts of the wrong type": [
    "bad_argument",
    () => new basal.Matrix({ ...small, rowStarts: [0, 2, 3] }),
  ],
  "values of the wrong type": [
    "bad_argument",
    () => new basal.Matrix({ ...small, values: new Float32Array(3) }),
  ],
  "no object": ["bad_argument", () => new basal.Matrix(null)],
  "negative rows": ["bad_argument", () => new basal.Matrix({ ...small, rows: -1 })],
  "rows that are no integer": ["bad_argument", () => new basal.Matrix({ ...small, rows: 1.5 })],
  "starts of the wrong length": [
    "dimension_mismatch",
    () => new basal.Matrix({ ...small, rows: 3 }),
  ],
  "values of the wrong length": [
    "dimension_mismatch",
    () => new basal.Matrix({ ...small, values: new Float64Array(2) }),
  ],
  "starts that descend": [
    "malformed_matrix",
    () => new basal.Matrix({ ...small, rowStarts: Int32Array.of(0, 4, 3) }),
  ],
  "a column out of range": [
    "malformed_matrix",
    () => new basal.Matrix({ ...small, columnIndices: Int32Array.of(0, 2, 1) }),
  ],
  "a value that is NaN": [
    "not_finite",
    () => new basal.Matrix({ ...small, values: Float64Array.of(4, NaN, 3) }),
  ],
  "a detached buffer": ["detached", () => new basal.Matrix({ ...small, values: detached() })],
  "a detached b": ["detached", () => basal.solveSync(new basal.Matrix(small), detached())],
  "b of the wrong type": ["bad_argument", () => basal.solveSync(new basal.Matrix(small), [1, 2])],
  "b of the wrong length": [
    "dimension_mismatch",
    () => basal.solveSync(new basal.Matrix(small), new Float64Array(3)),
  ],
  "an infinite b": [
    "not_finite",
    () => basal.solveSync(new basal.Matrix(small), Float64Array.of(1, Infinity)),
  ],
  "no matrix": ["bad_argument", () => basal.solveSync(small, new Float64Array(2))],
  "an unknown option": [
    "bad_option",
    () => basal.solveSync(new basal.Matrix(small), Float64Array.of(1, 2), { tolerence: 1 }),
  ],
  "an option of the wrong kind": [
    "bad_option",
    () => basal.solveSync(new basal.Matrix(small), Float64Array.of(1, 2), { tolerance: [] }),
  ],
  "a negative tolerance": [
    "bad_option",
    () => basal.solveSync(new basal.Matrix(small), Float64Array.of(1, 2), { tolerance: -1 }),
  ],
  "an unknown method": [
    "bad_option",
    () => basal.solveSync(new basal.Matrix(small), Float64Array.of(1, 2), { method: "magic" }),
  ],
  "a method that the matrix does not allow": [
    "not_symmetric",
    () =>
      basal.solveSync(new basal.Matrix(small), Float64Array.of(1, 2), {
        method: "conjugate_gradient",
      }),
  ],
  "a fractional limit": [
    "bad_option",
    () => basal.solveSync(new basal.Matrix(small), Float64Array.of(1, 2), { iterationLimit: 1.5 }),
  ],
  "a signal that is none": [
    "bad_argument",
    () => basal.solveSync(new basal.Matrix(small), Float64Array.of(1, 2), { signal: {} }),
  ],
  "an empty file": ["bad_file", () => basal.Matrix.fromMarket("")],
  "a file that ends early": ["bad_file", () => basal.Matrix.fromMarket(market("2 2 2", "1 1 1"))],
  "a file that claims too much": [
    "too_large",
    () => basal.Matrix.fromMarket(market("2000000000 2000000000 1", "1 1 1")),
  ],
  "text of the wrong type": ["bad_argument", () => basal.Matrix.fromMarket(7)],
  "a restart of 2": [
    "bad_option",
    () => basal.pagerank(new basal.Matrix(small), Float64Array.of(1, 1), { restart: 2 }),
  ],
  "a place out of range": [
    "bad_option",
    () => basal.topK(basal.pagerankMatrix(new basal.Matrix(small)), [[7, 1]]),
  ],
  "places that are no pairs": ["bad_argument", () => basal.topK(new basal.Matrix(small), [7])],
  "a pool without workers": ["bad_argument", () => new basal.Pool({ workers: 0 })],
};

for (const [what, [code, f]] of Object.entries(refusals))
  test(`${what} is ${code}`, () => assert.throws(f, refusal(code)));

test("a matrix that was disposed of is refused, and again harmless to dispose of", () => {
  const matrix = new basal.Matrix(small);
  matrix.dispose();
  matrix.dispose();
  assert.throws(() => matrix.rows, refusal("disposed"));
  assert.throws(() => basal.solveSync(matrix, Float64Array.of(1, 2)), refusal("disposed"));
});

test("the corpus of the reader's fuzzer, every prefix: a matrix or a typed error", () => {
  let files = 0;
  for (const name of readdirSync(corpusFolder)) {
    const bytes = new Uint8Array(readFileSync(new URL(name, corpusFolder)));
    ++files;
    for (let size = 0; size <= bytes.length; ++size) {
      for (const read of [basal.Matrix.fromMarket, basal.vectorFromMarket]) {
        try {
          read(bytes.slice(0, size)).dispose?.();
        } catch (failure) {
          assert.ok(failure instanceof basal.BasalSolverError, `${name}, ${size}: ${failure}`);
        }
      }
    }
  }
  assert.ok(files > 5);
});

test("10,000 solves, and memory is back where it began", async () => {
  const once = async (i) => {
    const matrix = new basal.Matrix(poisson(5 + (i % 4)));
    const b = rightSide(matrix.rows, i);
    basal.solveSync(matrix, b, { method: i % 3 === 0 ? "gmres" : "automatic" });
    if (i % 10 === 0) await basal.solve(matrix, b, { history: true });
    assert.throws(
      () =>
        basal.solveSync(
          matrix,
          b.map(() => NaN),
        ),
      refusal("not_finite"),
    );
    matrix.dispose();
  };
  for (let i = 0; i < 12; ++i) await once(i);
  const before = basal.memory();
  for (let i = 0; i < 10_000; ++i) await once(i);
  const after = basal.memory();
  assert.equal(after.reserved, before.reserved);
  assert.ok(after.inUse <= before.inUse, `${after.inUse} bytes, not ${before.inUse}`);
});

test("memory that is exhausted is an error, and afterwards all is well", async () => {
  const { Engine, compile } = await import(pathToFileURL(join(packageFolder, "src/engine.js")));
  const engine = await Engine.start(
    await compile(readFileSync(join(packageFolder, "src/basal.wasm"))),
  );
  const taken = []; // address space that nobody touches, until a matrix has no room
  for (const bytes of [2 ** 30, 2 ** 26, 2 ** 20])
    for (;;) {
      const address = engine.wasm.allocate(bytes);
      if (address === 0) break;
      taken.push(address);
    }
  assert.ok(engine.wasm.memory.buffer.byteLength > 3.9 * 2 ** 30);
  const large = poisson(300);
  assert.throws(() => engine.newMatrix(large), refusal("out_of_memory"));
  for (const address of taken) engine.wasm.release(address);
  engine.wasm.matrix_delete(engine.newMatrix(large));
});

test("an engine without WebAssembly, or without vectors, is told so", async () => {
  const { checkPlatform } = await import(pathToFileURL(join(packageFolder, "src/engine.js")));
  assert.throws(() => checkPlatform(null), refusal("unsupported"));
  assert.throws(() => checkPlatform({ validate: () => false }), refusal("unsupported"));
  checkPlatform();
});
