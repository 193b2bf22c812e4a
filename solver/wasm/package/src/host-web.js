import { host } from "./host.js";

host.wasm = () => fetch(new URL("./basal.wasm", import.meta.url));

// A message to oneself: a timer would wait 4 ms each time.
const turns = new MessageChannel();
const waiting = [];
turns.port1.onmessage = () => waiting.shift()();
host.pause = () =>
  new Promise((resolve) => {
    waiting.push(resolve);
    turns.port2.postMessage(null);
  });

host.startWorker = (create) =>
  adapt(create?.() ?? new Worker(new URL("./worker-web.js", import.meta.url), { type: "module" }));

function adapt(worker) {
  const adapted = {
    onMessage() {},
    onCrash() {},
    post: (message, transfer = []) => worker.postMessage(message, transfer),
    terminate: () => worker.terminate(),
  };
  worker.addEventListener("message", ({ data }) => adapted.onMessage(data));
  worker.addEventListener("error", (event) => {
    event.preventDefault();
    adapted.onCrash(event.message ?? "its script cannot be loaded");
  });
  worker.addEventListener("messageerror", () => adapted.onCrash("a message could not be read"));
  return adapted;
}

host.processors = () => navigator.hardwareConcurrency ?? 1;
host.canShare = () => globalThis.crossOriginIsolated === true;
