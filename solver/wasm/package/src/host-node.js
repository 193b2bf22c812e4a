import { readFile } from "node:fs/promises";
import { availableParallelism, cpus } from "node:os";
import { Worker } from "node:worker_threads";

import { host } from "./host.js";

host.wasm = () => readFile(new URL("./basal.wasm", import.meta.url));

host.pause = () => new Promise((resolve) => setImmediate(resolve));

host.startWorker = (create) => {
  const worker = create?.() ?? new Worker(new URL("./worker-node.js", import.meta.url));
  const adapted = {
    onMessage() {},
    onCrash() {},
    post: (message, transfer = []) => worker.postMessage(message, transfer),
    terminate: () => worker.terminate(),
    // An idle pool keeps no program alive.
    hold: () => worker.ref(),
    letGo: () => worker.unref(),
  };
  worker.on("message", (data) => adapted.onMessage(data));
  worker.on("error", (failure) => adapted.onCrash(failure.message));
  worker.on("exit", (status) => adapted.onCrash(`it ended with ${status}`));
  worker.unref();
  return adapted;
};

host.processors = () => availableParallelism?.() ?? cpus().length;
host.canShare = () => true;
