// A static server on loopback: a folder, with or without the headers that isolate a page.

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { pathToFileURL } from "node:url";

const types = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".wasm": "application/wasm",
  ".mtx": "text/plain; charset=utf-8",
};

export async function serve(folders, { isolated = false, port = 0 } = {}) {
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://localhost").pathname));
    for (const [prefix, folder] of Object.entries(folders)) {
      if (!path.startsWith(prefix)) continue;
      let file = join(folder, path.slice(prefix.length));
      const found = await stat(file).catch(() => null);
      if (found?.isDirectory()) file = join(file, "index.html");
      if (!found) continue;
      response.setHeader("Content-Type", types[extname(file)] ?? "application/octet-stream");
      if (isolated) {
        response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
        response.setHeader("Cross-Origin-Embedder-Policy", "require-corp");
      }
      createReadStream(file)
        .on("error", () => response.destroy())
        .pipe(response);
      return;
    }
    response.writeHead(404).end("not found\n");
  });
  await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => {
      server.closeAllConnections?.();
      server.close();
    },
  };
}

// node server.js FOLDER PACKAGE: the page of samples/solve/web.
if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [, , page, packaged] = process.argv;
  const { url } = await serve(
    { "/basal-solver/": packaged, "/": page },
    { isolated: true, port: 8080 },
  );
  console.log(url);
}
