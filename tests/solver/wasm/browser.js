// Debian's chromium, without a window.

import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(join(process.env.BASAL_WASM_TOOLS, "package.json"));
const { chromium } = require("playwright-core");

export function launch() {
  return chromium.launch({
    executablePath: process.env.BASAL_CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox", // as root, as in most containers, it does not start with one
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking", // no connections but ours
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
