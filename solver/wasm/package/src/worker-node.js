import { parentPort } from "node:worker_threads";

import { host } from "./host.js";
import "./host-node.js";
import { startWorking } from "./worker.js";

parentPort.on(
  "message",
  startWorking((message, transfer = []) => parentPort.postMessage(message, transfer), host.pause),
);
