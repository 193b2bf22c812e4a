import "./host-node.js";

export * from "./index.js";
