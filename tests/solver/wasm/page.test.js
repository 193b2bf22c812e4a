// The page of samples/solve/web in chromium. BASAL_WASM_SCREENSHOT: a PNG file to write.

import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { fileURLToPath } from "node:url";

import { launch } from "./browser.js";
import { serve } from "./server.js";
import { packageFolder } from "./support.js";

const folder = fileURLToPath(new URL("../../../samples/solve/web", import.meta.url));
let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

async function onPage(isolated, f) {
  const server = await serve({ "/basal-solver/": packageFolder, "/": folder }, { isolated });
  const page = await browser.newPage({ viewport: { width: 960, height: 1000 } });
  const problems = [];
  page.on("pageerror", ({ message }) => problems.push(message));
  page.on("console", (line) => line.type() === "error" && problems.push(line.text()));
  page.on("request", (request) => {
    if (!request.url().startsWith(server.url) && !request.url().startsWith("data:"))
      problems.push(`it asked for ${request.url()}`);
  });
  try {
    await page.goto(server.url);
    await page.waitForSelector("html[data-ready]");
    await f(page);
    assert.deepEqual(problems, []);
  } finally {
    await page.close();
    server.close();
  }
}

const ends = (page) =>
  page.waitForSelector("#state.converged, #state.failed", { timeout: 60_000 });

for (const isolated of [true, false])
  test(`${isolated ? "isolated" : "not isolated"}: a generated matrix is solved and shown`, () =>
    onPage(isolated, async (page) => {
      assert.match(
        await page.textContent("#mode"),
        isolated ? /share the matrix/ : /each have a copy/,
      );
      await page.waitForSelector("#solve:enabled");
      await page.selectOption("#count", "8");
      await page.click("#solve");
      await ends(page);
      assert.match(await page.textContent("#state"), /^8 of 8 converged/);
      assert.match(await page.textContent("#why"), /conjugate_gradient/);
      assert.equal(await page.locator("#entries li").count(), 10);
      assert.equal(await page.evaluate(() => getComputedStyle(document.body).margin), "0px");
      if (isolated && process.env.BASAL_WASM_SCREENSHOT)
        await page.screenshot({ path: process.env.BASAL_WASM_SCREENSHOT, fullPage: true });
    }));

test("a file is read, and a broken one is complained of; a solve can be stopped", () =>
  onPage(true, async (page) => {
    const give = (name, text) =>
      page.setInputFiles("#file", { name, mimeType: "text/plain", buffer: Buffer.from(text) });
    const header = "%%MatrixMarket matrix coordinate real general\n";
    await give("two.mtx", `${header}2 2 2\n1 1 4\n2 2 5\n`);
    await page.waitForFunction(() =>
      document.getElementById("shape").textContent.includes("2 x 2"),
    );
    await page.click("#solve");
    await ends(page);
    assert.match(await page.textContent("#state"), /^converged/);
    await give("broken.mtx", `${header}2 2 2\n1 1 4\n`);
    await page.waitForFunction(() =>
      document.getElementById("shape").textContent.includes("the file ends after 1 of 2"),
    );
    await page.selectOption("#generated", { index: 1 });
    await page.waitForFunction(() =>
      document.getElementById("shape").textContent.includes("250,000 x"),
    );
    await page.selectOption("#method", "neumann");
    await page.selectOption("#count", "32");
    await page.click("#solve");
    await page.click("#stop");
    await ends(page);
    assert.equal(await page.textContent("#state"), "Stopped.");
  }));
