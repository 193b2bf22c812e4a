// The four questions that an engine answers, as they are asked of it here and in a worker.

import { moduleOptions } from "./checks.js";

// A slice of a solve lasts this long, so that a page drops no frame of 16 ms by much.
const sliceMilliseconds = 8;

/**
 * A solve in slices. `pause` returns a promise that resolves when the event loop has had its turn;
 * null: no turn until the end. Progress is told after each slice but the last.
 */
export async function solveInSlices(engine, matrix, b, options, pause) {
  const solving = begin(engine, matrix, b, options);
  try {
    let steps = 1;
    for (;;) {
      const start = performance.now();
      if (!advance(engine, solving, steps)) return end(engine, solving, options);
      const took = performance.now() - start;
      steps =
        took < sliceMilliseconds / 2
          ? steps * 2
          : Math.max(1, Math.floor((steps * sliceMilliseconds) / took));
      if (took < sliceMilliseconds / 4) continue;
      options.onProgress?.({
        iterations: engine.wasm.solving_iterations(solving),
        residual: engine.wasm.solving_residual(solving),
        ...(options.history && { history: engine.numbers(engine.wasm.solving_history(solving)) }),
      });
      await pause();
      options.signal?.throwIfAborted();
    }
  } finally {
    engine.wasm.solving_delete(solving);
  }
}

/** The same without a pause. */
export function solveAtOnce(engine, matrix, b, options) {
  const solving = begin(engine, matrix, b, options);
  try {
    while (advance(engine, solving, 1e9));
    return end(engine, solving, options);
  } finally {
    engine.wasm.solving_delete(solving);
  }
}

function begin(engine, matrix, b, options) {
  return engine.withOptions(moduleOptions(options), (o) =>
    engine.withCopy(b, (at) =>
      engine.checked(engine.wasm.solving_new(matrix, o, at, b.length, options.history ? 1 : 0)),
    ),
  );
}

function advance(engine, solving, steps) {
  return engine.checked(engine.wasm.solving_advance(solving, steps), -1) === 1;
}

function end(engine, solving, options) {
  const result = engine.takeResult(engine.checked(engine.wasm.solving_take(solving)));
  if (options.history) result.history = engine.numbers(engine.wasm.solving_history(solving));
  return result;
}

export function pagerank(engine, links, restarts, options) {
  return engine.withOptions(moduleOptions(options), (o) =>
    engine.withCopy(restarts, (at) =>
      engine.takeResult(engine.checked(engine.wasm.pagerank_all(links, o, at, restarts.length))),
    ),
  );
}

export function pagerankOf(engine, links, source, target, options) {
  return engine.withOptions(moduleOptions(options), (o) =>
    engine.takeResult(engine.checked(engine.wasm.pagerank_one(links, o, source, target))),
  );
}

export function topK(engine, matrix, places, values, options) {
  return engine.withOptions(moduleOptions(options), (o) =>
    engine.withCopy(places, (placesAt) =>
      engine.withCopy(values, (valuesAt) =>
        engine.takeTop(
          engine.checked(engine.wasm.top_k(matrix, o, placesAt, valuesAt, places.length)),
        ),
      ),
    ),
  );
}
