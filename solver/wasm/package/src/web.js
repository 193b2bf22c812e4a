import "./host-web.js";

export * from "./index.js";
