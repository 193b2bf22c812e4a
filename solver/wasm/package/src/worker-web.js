import { host } from "./host.js";
import "./host-web.js";
import { startWorking } from "./worker.js";

const read = startWorking((message, transfer = []) => postMessage(message, transfer), host.pause);
addEventListener("message", ({ data }) => read(data));
