// `./dev bench wasm`: the package beside the native solver with summation::portable on both sides,
// beside one worker, and beside the package that the solver's methods come from.
//
// usage: node bench.js [--quick] [--json FILE]; the environment says where the package
// (BASAL_WASM_PACKAGE), the native program (BASAL_WASM_NATIVE), a folder for systems
// (BASAL_WASM_SYSTEMS) and the peer's project (BASAL_WASM_PEER, may be missing) are.
//
// Rounds of native and of WebAssembly take turns, so that a disturbance hits both; figures are
// medians. Exit status 1 if an answer is wrong.

import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const {
  BASAL_WASM_PACKAGE: packaged,
  BASAL_WASM_NATIVE: native,
  BASAL_WASM_SYSTEMS: folder,
  BASAL_WASM_PEER: peer,
} = process.env;
const quick = process.argv.includes("--quick");
const json = process.argv[process.argv.indexOf("--json") + 1];
const rounds = quick ? 5 : 9;
const basal = await import(pathToFileURL(join(packaged, "src/node.js")));
await basal.load();

const cases = [];
const figures = {};
let wrong = 0;

function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[sorted.length >> 1];
}

function report(name, unit, samples) {
  const row = { name, unit, median: median(samples), samples };
  cases.push(row);
  console.log(`${name.padEnd(44)} ${row.median.toFixed(3).padStart(12)} ${unit}`);
  return row.median;
}

function sameBits(a, b) {
  const words = (x) => new BigUint64Array(x.buffer, x.byteOffset, x.length);
  const [left, right] = [words(a), words(b)];
  return left.length === right.length && left.every((word, i) => word === right[i]);
}

// --- one thread against native ------------------------------------------------

execFileSync(native, ["write", folder]);
const systems = JSON.parse(readFileSync(join(folder, "systems.json"), "utf8"));
const server = spawn(native, ["serve"], { stdio: ["pipe", "pipe", "inherit"] });
const answers = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
async function nativeMicroseconds(name) {
  server.stdin.write(`${name}\n`);
  return Number((await answers.next()).value.split(" ")[0]);
}

function read({ name, rows, nonzeros }) {
  const { buffer } = new Uint8Array(readFileSync(join(folder, `${name}.bin`)));
  let at = 0;
  const part = (Type, length) => {
    const array = new Type(buffer, at, length);
    at += array.byteLength;
    return array;
  };
  return {
    values: part(Float64Array, nonzeros),
    b: part(Float64Array, rows),
    x: part(Float64Array, rows),
    rowStarts: part(Int32Array, rows + 1),
    columnIndices: part(Int32Array, nonzeros),
    rows,
    columns: rows,
  };
}

let mismatches = 0;
const ratios = { inCache: [], beyond: [] };
for (const system of systems) {
  const data = read(system);
  const matrix = new basal.Matrix(data);
  const once = () => basal.solveSync(matrix, data.b, system.options);
  const { x, iterations } = once(); // makes the plan; compiles the code
  if (iterations !== system.iterations || !sameBits(x, data.x)) ++mismatches;
  for (let i = 0; i < (system.inCache ? 30 : 1); ++i) once(); // until the engine has optimised
  await nativeMicroseconds(system.name);
  const times = { native: [], wasm: [] };
  const repetitions = system.inCache ? 20 : 1;
  for (let round = 0; round < rounds; ++round) {
    const both = { native: [], wasm: [] };
    for (let i = 0; i < repetitions; ++i) both.native.push(await nativeMicroseconds(system.name));
    for (let i = 0; i < repetitions; ++i) {
      const start = performance.now();
      once();
      both.wasm.push((performance.now() - start) * 1000);
    }
    times.native.push(median(both.native));
    times.wasm.push(median(both.wasm));
  }
  const ours = report(`solve/${system.name}/wasm`, "us", times.wasm);
  const theirs = report(`solve/${system.name}/native`, "us", times.native);
  ratios[system.inCache ? "inCache" : "beyond"].push(ours / theirs);
  figures[`wasm_vs_native_${system.name}`] = ours / theirs;
  matrix.dispose();
}
server.stdin.end();
figures.wasm_vs_native = Math.max(...ratios.inCache, ...ratios.beyond);
figures.wasm_bit_mismatches = mismatches;
wrong += mismatches;

// --- a pool --------------------------------------------------------------------

{
  const data = read(systems[0]);
  const matrix = new basal.Matrix(data);
  const requests = Array.from({ length: quick ? 64 : 200 }, () => ({
    matrix,
    b: data.b,
    ...systems[0].options,
  }));
  const pools = [1, 2].map((workers) => new basal.Pool({ workers }));
  const times = [[], []];
  for (let round = 0; round <= rounds; ++round) {
    for (const [i, pool] of pools.entries()) {
      const start = performance.now();
      const results = await pool.solveBatch(requests);
      if (round > 0) times[i].push(performance.now() - start);
      wrong += results.some((result) => !sameBits(result.x, data.x));
    }
  }
  for (const pool of pools) pool.dispose();
  const one = report(`pool/${systems[0].name}/1`, "ms", times[0]);
  const two = report(`pool/${systems[0].name}/2`, "ms", times[1]);
  figures.wasm_pool_speedup_2 = one / two;
  matrix.dispose();
}

// --- size and time to load -----------------------------------------------------

const kilobytes = (files) =>
  files.reduce((sum, f) => sum + gzipSync(f, { level: 9 }).length, 0) / 1000;
const source = join(packaged, "src");
figures.wasm_gz_kb = kilobytes([readFileSync(join(source, "basal.wasm"))]);
figures.wasm_js_gz_kb = kilobytes([
  Buffer.concat(
    readdirSync(source)
      .filter((name) => name.endsWith(".js"))
      .map((name) => readFileSync(join(source, name))),
  ),
]);
const loader = `const start = performance.now();
const { load } = await import(${JSON.stringify(pathToFileURL(join(source, "node.js")).href)});
await load();
console.log(performance.now() - start);`;
figures.wasm_load_ms = report(
  "load/node",
  "ms",
  Array.from({ length: rounds }, () =>
    Number(
      execFileSync(process.execPath, ["--input-type=module", "-e", loader], { encoding: "utf8" }),
    ),
  ),
);

// --- the peer ------------------------------------------------------------------

if (peer && existsSync(join(peer, "node_modules/sublinear-time-solver"))) {
  const program = new URL("peer.js", import.meta.url);
  for (const method of ["neumann", "basal"]) {
    const samples = Array.from({ length: quick ? 1 : 3 }, () =>
      JSON.parse(
        execFileSync(process.execPath, [program.pathname, method], { encoding: "utf8" })
          .trim()
          .split("\n")
          .pop(),
      ),
    );
    report(
      `peer/diagonal_5_plane_10/${method}`,
      "ms",
      samples.map(({ ms }) => ms),
    );
    const { claimed, residual, failure } = samples[0];
    console.log(
      failure
        ? `    failed: ${failure}`
        : `    says ${claimed}; |b - A x| / |b| is ${residual.toExponential(2)}, ` +
            (residual <= 1e-6 ? "as asked" : "1e-6 was asked"),
    );
    figures[`peer_residual_${method}`] = residual ?? null;
  }
} else {
  console.log("peer sublinear-time-solver: left out, it is not installed");
}

console.log("");
for (const [name, value] of Object.entries(figures)) console.log(`figure ${name} ${value}`);
if (json && process.argv.includes("--json"))
  writeFileSync(
    json,
    JSON.stringify(
      {
        machine: { cpu: cpus()[0]?.model, processors: cpus().length, load: loadavg()[0] },
        node: process.version,
        cases,
        figures,
      },
      null,
      2,
    ) + "\n",
  );
if (wrong > 0) {
  console.error(`${wrong} answers are wrong`);
  process.exit(1);
}
