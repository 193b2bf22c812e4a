// The package in chromium, on pages that are cross-origin isolated and on others.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test, { after, before } from "node:test";

import { launch } from "./browser.js";
import { serve } from "./server.js";
import { basal, bits, buildFolder, nativeSystems, packageFolder } from "./support.js";

const pages = join(buildFolder, "pages");
mkdirSync(pages, { recursive: true });
writeFileSync(join(pages, "index.html"), "<!doctype html><title>tests</title>\n");
// A worker that crashes instead of answering.
writeFileSync(
  join(pages, "crashing.js"),
  `const answer = globalThis.postMessage.bind(globalThis);
globalThis.postMessage = (message, transfer) => {
  if (message.job) setTimeout(() => { throw new Error("crashed on purpose"); });
  else answer(message, transfer);
};
import "/basal-solver/src/worker-web.js";
`,
);

const systems = nativeSystems().filter(({ kind, rows }) => kind === "solve" && rows < 600);
let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

async function onPage(isolated, f, argument) {
  const server = await serve({ "/basal-solver/": packageFolder, "/": pages }, { isolated });
  const page = await browser.newPage();
  const problems = [];
  page.on("pageerror", (problem) => problems.push(problem.message));
  try {
    await page.goto(server.url);
    await page.evaluate(async () => {
      globalThis.basal = await import("/basal-solver/src/web.js");
      await globalThis.basal.load();
    });
    const result = await page.evaluate(f, argument);
    assert.deepEqual(problems, []);
    return result;
  } finally {
    await page.close();
    server.close();
  }
}

// Typed arrays do not travel to pages, arrays do.
const plain = systems.map(({ rows, columns, rowStarts, columnIndices, values, b, options }) => ({
  rows,
  columns,
  rowStarts: [...rowStarts],
  columnIndices: [...columnIndices],
  values: [...values],
  b: [...b],
  options,
}));

for (const isolated of [true, false])
  test(`${isolated ? "isolated" : "not isolated"}: native's bits here and in workers`, async () => {
    const { mode, here, there } = await onPage(
      isolated,
      async (all) => {
        const { basal } = globalThis;
        const pool = new basal.Pool({ workers: 2 });
        const requests = all.map(
          ({ rows, columns, rowStarts, columnIndices, values, b, options }) => ({
            matrix: new basal.Matrix({
              rows,
              columns,
              rowStarts: Int32Array.from(rowStarts),
              columnIndices: Int32Array.from(columnIndices),
              values: Float64Array.from(values),
            }),
            b: Float64Array.from(b),
            ...options,
          }),
        );
        const there = await pool.solveBatch(requests);
        const here = [];
        for (const { matrix, b, ...options } of requests)
          here.push(await basal.solve(matrix, b, options));
        pool.dispose();
        return {
          mode: pool.mode,
          here: here.map(({ x }) => [...x]),
          there: there.map(({ x }) => [...x]),
        };
      },
      plain,
    );
    assert.equal(mode, isolated ? "shared" : "copied");
    systems.forEach(({ x }, i) => {
      assert.equal(bits(Float64Array.from(here[i])), bits(x), `system ${i}, here`);
      assert.equal(bits(Float64Array.from(there[i])), bits(x), `system ${i}, in a worker`);
    });
  });

for (const isolated of [true, false])
  test(`${isolated ? "isolated" : "not isolated"}: a crashed worker is replaced`, async () => {
    const results = await onPage(isolated, async () => {
      const { basal } = globalThis;
      let started = 0;
      const pool = new basal.Pool({
        workers: 1,
        createWorker: () =>
          new Worker(++started === 1 ? "/crashing.js" : "/basal-solver/src/worker-web.js", {
            type: "module",
          }),
      });
      const matrix = basal.Matrix.fromMarket(
        "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 4\n",
      );
      const slow = { method: "neumann", tolerance: 0 };
      const b = Float64Array.of(8);
      const first = await pool.solve(matrix, b, slow);
      const second = await pool.solve(matrix, b, slow);
      pool.dispose();
      return [first.x[0], second.x[0], started];
    });
    assert.deepEqual(results.slice(0, 2), [2, 2]);
    assert.ok(results[2] >= 2);
  });

test("a server that has no module is a typed error, and so is a page that forbids it", async () => {
  const code = await onPage(false, async () => {
    const { basal } = globalThis;
    const fresh = await import("/basal-solver/src/engine.js");
    const codes = [];
    for (const source of [() => fetch("/no-such.wasm"), () => new Uint8Array([1, 2, 3])]) {
      try {
        await fresh.compile(source());
      } catch (failure) {
        codes.push(failure instanceof basal.BasalSolverError && failure.code);
      }
    }
    try {
      new basal.Pool({ mode: "shared" });
    } catch (failure) {
      codes.push(failure.code);
    }
    return codes;
  });
  assert.deepEqual(code, ["load_failed", "load_failed", "unsupported"]);
});
