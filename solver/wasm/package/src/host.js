// Differences between node and browsers; host-node.js and host-web.js fill them in.

export const host = {
  /** The module's bytes, or a Response with them. */
  wasm: undefined,

  /** A promise that resolves when other events have had their turn. */
  pause: undefined,

  /** Starts a worker: { post(message, transfer), onMessage, onCrash, terminate() }. */
  startWorker: undefined,

  /** Processors. */
  processors: undefined,

  /** Whether a worker can be handed shared memory. */
  canShare: undefined,
};
