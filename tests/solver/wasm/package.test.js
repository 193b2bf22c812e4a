// The package as its users have it: from its tarball, typed, bundled.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import test, { after, before } from "node:test";

import { launch } from "./browser.js";
import { serve } from "./server.js";
import { basal, buildFolder, packageFolder } from "./support.js";

const tools = process.env.BASAL_WASM_TOOLS;
const project = mkdtempSync(join(buildFolder, "project-"));
const installed = join(project, "node_modules/basal-solver");
const run = (program, ...given) =>
  execFileSync(program, given, { cwd: project, encoding: "utf8", stdio: "pipe" });
const readme = readFileSync(join(packageFolder, "README.md"), "utf8");
const quoted = (language) => new RegExp("```" + language + "\n([^]*?)```").exec(readme)[1];

before(() => {
  writeFileSync(
    join(project, "package.json"),
    '{ "name": "empty", "private": true, "type": "module" }\n',
  );
  const tarball = readdirSync(join(buildFolder, "..")).find((name) => name.endsWith(".tgz"));
  run("npm", "install", "--offline", "--no-audit", "--no-fund", join(buildFolder, "..", tarball));
});
after(() => rmSync(project, { recursive: true }));

test("it depends on nothing", () => {
  assert.deepEqual(
    readdirSync(join(project, "node_modules")).filter((name) => !name.startsWith(".")),
    ["basal-solver"],
  );
});

test("the README's program runs in node", () => {
  writeFileSync(join(project, "program.mjs"), quoted("js"));
  assert.match(
    run(process.execPath, "program.mjs"),
    /^converged \[ 0\.08333333333333\d*, 0\.6666666666666666 \]/,
  );
});

test("the types hold under --strict, and refuse what is wrong", () => {
  const check = (text) => {
    writeFileSync(join(project, "program.ts"), text);
    run(
      process.execPath,
      join(tools, "node_modules/typescript/bin/tsc"),
      ..."--noEmit --strict --target es2022 --module nodenext --lib es2022,dom program.ts".split(
        " ",
      ),
    );
  };
  check(quoted("js"));
  check(readFileSync(new URL("types.ts", import.meta.url), "utf8"));
  for (const wrong of [
    "Matrix.fromMarket(new Float64Array(1))",
    'solve(Matrix.fromMarket(""), new Float64Array(1), { method: "magic" })',
    'new Pool({ mode: "borrowed" })',
  ])
    assert.throws(
      () => check(`import { Matrix, Pool, solve } from "basal-solver";\n${wrong};\n`),
      wrong,
    );
});

test("the types name the methods and preconditioners that there are", async () => {
  const types = readFileSync(join(packageFolder, "index.d.ts"), "utf8");
  const { loaded } = await import(join(packageFolder, "src/solver.js"));
  for (const [type, names] of [
    ["Method", loaded().methods],
    ["Preconditioner", loaded().preconditioners],
  ]) {
    const union = new RegExp(`export type ${type} =([^;]*);`).exec(types)[1];
    assert.deepEqual(union.match(/\w+/g), names);
  }
  const states = /state: ("converged[^;]*);/.exec(types)[1].match(/\w+/g);
  assert.deepEqual(["running", ...states], loaded().states);
  assert.equal(typeof basal.load, "function");
});

test("esbuild bundles it for browsers", async () => {
  writeFileSync(
    join(project, "app.js"),
    `import { Matrix, Pool, load } from "basal-solver";
await load();
const pool = new Pool({ workers: 1 });
const text = "%%MatrixMarket matrix coordinate real general\\n1 1 1\\n1 1 4\\n";
const matrix = Matrix.fromMarket(text);
globalThis.answer = (await pool.solve(matrix, Float64Array.of(8))).x[0];
`,
  );
  run(
    join(tools, "node_modules/.bin/esbuild"),
    "app.js",
    join(installed, "src/worker-web.js"),
    ..."--bundle --format=esm --target=es2022 --log-level=warning".split(" "),
    ..."--entry-names=[name] --outdir=dist".split(" "),
  );
  copyFileSync(join(installed, "src/basal.wasm"), join(project, "dist/basal.wasm"));
  writeFileSync(
    join(project, "dist/index.html"),
    '<!doctype html><script type="module" src="app.js"></script>\n',
  );
  assert.equal(await answerOf(join(project, "dist")), 2);
});

test("the README's page runs in chromium", async () => {
  const folder = join(project, "page");
  mkdirSync(folder);
  const page = quoted("html").replace(
    "</script>",
    "globalThis.answer = document.getElementById('answer').textContent;</script>",
  );
  writeFileSync(join(folder, "index.html"), page);
  assert.match(await answerOf(folder, installed), /^0\.08333/);
});

async function answerOf(folder, packaged = installed) {
  const server = await serve({ "/basal-solver/": packaged, "/": folder });
  const browser = await launch();
  try {
    const page = await browser.newPage();
    await page.goto(server.url);
    await page.waitForFunction(() => globalThis.answer !== undefined, null, { timeout: 20_000 });
    return await page.evaluate(() => globalThis.answer);
  } finally {
    await browser.close();
    server.close();
  }
}
