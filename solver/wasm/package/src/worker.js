// A worker of a pool: one instance of the module, one job at a time. The thread's file hands in its
// messages and takes the answers: worker-web.js, worker-node.js.
//
//   in:  { start: module }                          first
//        { job, kind, key, arrays, ...arguments }   `arrays` if this worker lacks the matrix `key`
//        { abort: job }   { forget: key }
//   out: { ready }   { job, progress }   { job, result }   { job, failure }   { broken }

import { Engine } from "./engine.js";
import { BasalSolverError } from "./errors.js";
import * as jobs from "./jobs.js";

export function startWorking(answer, pause) {
  let engine = null;
  const matrices = new Map(); // key of the pool -> handle here
  let running = null; // { job, abort }

  const kinds = {
    solve: (matrix, { b, options, job, wantsProgress }) =>
      jobs.solveInSlices(
        engine,
        matrix,
        b,
        {
          ...options,
          signal: running.abort.signal,
          onProgress: wantsProgress ? (progress) => answer({ job, progress }) : undefined,
        },
        pause,
      ),
    pagerank: (matrix, { b, options }) => jobs.pagerank(engine, matrix, b, options),
    topK: (matrix, { places, values, options }) =>
      jobs.topK(engine, matrix, places, values, options),
  };

  function matrixOf({ key, arrays }) {
    if (arrays) matrices.set(key, engine.newMatrix(arrays));
    return matrices.get(key);
  }

  async function run(message) {
    const { job, kind } = message;
    running = { job, abort: new AbortController() };
    try {
      const result = await kinds[kind](matrixOf(message), message);
      answer(
        { job, result },
        [result.x, result.history].filter(Boolean).map((a) => a.buffer),
      );
    } catch (failure) {
      if (failure instanceof BasalSolverError)
        answer({ job, failure: { code: failure.code, sentence: failure.message } });
      else if (running.abort.signal.aborted)
        answer({ job, failure: { code: "aborted", sentence: "" } });
      else answer({ broken: `${failure?.message ?? failure}` }); // a trap: the instance is spoilt
    }
    running = null;
  }

  async function read(message) {
    if (message.start) {
      try {
        engine = await Engine.start(message.start);
        answer({ ready: true });
      } catch (failure) {
        answer({ broken: failure.message });
      }
    } else if (message.forget !== undefined) {
      const matrix = matrices.get(message.forget);
      if (matrices.delete(message.forget)) engine.wasm.matrix_delete(matrix);
    } else {
      await run(message);
    }
  }

  let last = Promise.resolve(); // messages are read one after the other, except aborts
  return (message) => {
    if (message.abort !== undefined) {
      if (running?.job === message.abort) running.abort.abort();
    } else {
      last = last.then(() => read(message));
    }
  };
}
