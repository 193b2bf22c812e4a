// Solves side by side: workers with an instance each.
//
// A job waits in one queue, first come first served, and goes to the next idle worker; a worker has
// one at most. Jobs are independent and a worker's answer depends on its job alone, so results are
// the same for any number of workers.
//
// The arrays of a job are copied when it is submitted: the caller's buffers stay the caller's.
// Where memory can be shared the copy is made once for all workers, else a message carries it,
// again if a job runs again. A worker that crashes is replaced, and its job runs once more.

import { checkArray, checkFunction, checkObject, checkSignal, checkSize } from "./checks.js";
import { BasalSolverError, refuse } from "./errors.js";
import { host } from "./host.js";
import { checkMatrix, checkSolve, compiledModule, loaded } from "./solver.js";

// Workers that crash in a row before they are ready; then there is no use in starting another.
const mostFailedStarts = 3;

export class Pool {
  #module = compiledModule();
  #create;
  #queueLimit;
  #slots = [];
  #queue = [];
  #keys = new WeakMap(); // Matrix -> { key, shared }
  #nextKey = 1;
  #nextJob = 1;
  #failedStarts = 0;
  #disposed = false;

  constructor({ workers, mode, queueLimit = Infinity, createWorker } = {}) {
    const count = checkSize(workers ?? host.processors(), "workers");
    if (count === 0) refuse("bad_argument", "a pool needs a worker");
    if (mode !== undefined && mode !== "shared" && mode !== "copied")
      refuse("bad_argument", `mode is ${String(mode)}, where "shared" or "copied" was expected`);
    if (mode === "shared" && !host.canShare())
      refuse("unsupported", "memory can be shared only where the page is cross-origin isolated");
    this.#create = checkFunction(createWorker, "createWorker");
    this.#queueLimit = queueLimit;

    /** How workers get matrices and right-hand sides: "shared" or "copied". */
    this.mode = mode ?? (host.canShare() ? "shared" : "copied");
    for (let i = 0; i < count; ++i) this.#start();
  }

  /** For each worker, whether it has a job. */
  get activity() {
    return this.#slots.map(({ job }) => job !== null);
  }

  /** Jobs that no worker has begun. */
  get waiting() {
    return this.#queue.length;
  }

  async solve(matrix, b, options = {}) {
    checkSolve(matrix, b, options);
    const { signal, onProgress, ...plain } = options;
    return this.#submit({
      kind: "solve",
      matrix,
      data: { b: this.#kept(b), options: plain, wantsProgress: onProgress !== undefined },
      signal,
      onProgress,
    });
  }

  async pagerank(links, restarts, options = {}) {
    checkMatrix(links);
    checkArray(restarts, Float64Array, "restarts");
    const { signal, ...plain } = checkObject(options, "the options");
    return this.#submit({
      kind: "pagerank",
      matrix: links,
      data: { b: this.#kept(restarts), options: plain },
      signal,
    });
  }

  async topK(matrix, b, options = {}) {
    checkMatrix(matrix);
    if (!Array.isArray(b)) refuse("bad_argument", "b is no array of pairs [place, value]");
    const places = Int32Array.from(b, (pair) => checkSize(pair?.[0], "a place of b"));
    const values = Float64Array.from(b, (pair) => pair[1]);
    const { signal, ...plain } = checkObject(options, "the options");
    return this.#submit({
      kind: "topK",
      matrix,
      data: { places, values, options: plain },
      signal,
    });
  }

  /**
   * Solves requests { matrix, b, ...options }. They are taken from the iterable, which may be
   * asynchronous, as workers become idle. Resolves with results in the order of requests; a
   * request that failed has its error there.
   */
  async solveBatch(requests, { onProgress, signal } = {}) {
    checkFunction(onProgress, "onProgress");
    checkSignal(signal);
    const source = requests?.[Symbol.asyncIterator]?.() ?? requests?.[Symbol.iterator]?.();
    if (!source) refuse("bad_argument", "the requests are not iterable");
    const total = Array.isArray(requests) ? requests.length : undefined;
    const results = [];
    let taken = 0;
    let done = 0;
    let next = Promise.resolve(); // one request is taken at a time
    const take = () => (next = next.then(() => source.next()).then((item) => [item, taken++]));
    const stopped = new AbortController(); // when one lane fails, so do the others
    const lane = async () => {
      for (;;) {
        signal?.throwIfAborted();
        if (stopped.signal.aborted) return;
        const [{ done: empty, value }, index] = await take();
        if (empty) return;
        try {
          const { matrix, b, ...options } = checkObject(value, `request ${index}`);
          results[index] = await this.solve(matrix, b, { signal, ...options });
        } catch (failure) {
          if (!(failure instanceof BasalSolverError) || failure.code === "disposed_pool")
            throw failure;
          results[index] = failure;
        }
        onProgress?.({ index, done: ++done, total, result: results[index] });
      }
    };
    await Promise.all(
      this.#slots.map(() =>
        lane().catch((failure) => {
          stopped.abort();
          throw failure;
        }),
      ),
    );
    return results;
  }

  /** Ends all workers; what waits or runs fails with `disposed_pool`. */
  dispose() {
    if (this.#disposed) return;
    this.#disposed = true;
    const ended = new BasalSolverError("disposed_pool", "the pool was disposed of");
    for (const slot of this.#slots) {
      slot.job?.reject(ended);
      this.#retire(slot);
    }
    this.#slots = [];
    for (const job of this.#queue.splice(0)) job.reject(ended);
  }

  // A copy that the pool keeps until the job is done.
  #kept(array) {
    if (this.mode === "copied") return array.slice();
    const copy = new array.constructor(new SharedArrayBuffer(array.byteLength));
    copy.set(array);
    return copy;
  }

  #submit({ kind, matrix, data, signal, onProgress }) {
    if (this.#disposed) refuse("disposed_pool", "the pool was disposed of");
    checkSignal(signal);
    signal?.throwIfAborted();
    if (this.#queue.length >= this.#queueLimit)
      refuse("too_busy", `${this.#queue.length} jobs wait already, as many as queueLimit allows`);
    return new Promise((resolve, reject) => {
      const job = { id: this.#nextJob++, kind, matrix, data, onProgress, runs: 0 };
      const abort = () => this.#abort(job, signal.reason);
      signal?.addEventListener("abort", abort, { once: true });
      const settled = (how) => (value) => {
        signal?.removeEventListener("abort", abort);
        how(value);
      };
      job.resolve = settled(resolve);
      job.reject = settled(reject);
      this.#queue.push(job);
      this.#dispatch();
    });
  }

  #abort(job, reason) {
    const place = this.#queue.indexOf(job);
    if (place >= 0) this.#queue.splice(place, 1);
    // The worker stays busy until it has seen this; nobody waits for its answer.
    this.#slots.find((slot) => slot.job === job)?.worker.post({ abort: job.id });
    job.reject(reason);
  }

  #start() {
    const slot = { worker: null, job: null, known: new Set(), gone: false, ready: false };
    slot.worker = host.startWorker(this.#create);
    slot.worker.onMessage = (message) => this.#hear(slot, message);
    slot.worker.onCrash = (reason) => this.#crashed(slot, reason);
    slot.worker.post({ start: this.#module });
    this.#slots.push(slot);
  }

  #retire(slot) {
    slot.gone = true;
    slot.worker.terminate();
  }

  #dispatch() {
    while (this.#queue.length > 0) {
      const slot = this.#slots.find((s) => s.job === null);
      if (slot === undefined) return;
      const job = this.#queue.shift();
      try {
        const { key, arrays } = this.#matrixFor(slot, job.matrix);
        slot.worker.post(
          { job: job.id, kind: job.kind, key, arrays, ...job.data },
          this.mode === "copied" && arrays
            ? [arrays.rowStarts.buffer, arrays.columnIndices.buffer, arrays.values.buffer]
            : [],
        );
        slot.known.add(key);
        slot.job = job;
        slot.worker.hold?.();
        ++job.runs;
      } catch (failure) {
        job.reject(failure); // disposed of in the meantime, or no memory for the copy
      }
    }
  }

  // The matrix's key, and its arrays if the worker has not seen them.
  #matrixFor(slot, matrix) {
    const { handle } = matrix; // throws if it was disposed of
    let entry = this.#keys.get(matrix);
    if (!entry) {
      entry = { key: this.#nextKey++, shared: null };
      this.#keys.set(matrix, entry);
      matrix.whenDisposed.add(() => this.#forget(entry.key));
    }
    if (slot.known.has(entry.key)) return { key: entry.key };
    if (entry.shared) return { key: entry.key, arrays: entry.shared };
    const { rows, columns, ...parts } = loaded().arrays(handle);
    const arrays = { rows, columns };
    for (const [name, part] of Object.entries(parts)) arrays[name] = this.#kept(part);
    if (this.mode === "shared") entry.shared = arrays;
    return { key: entry.key, arrays };
  }

  #forget(key) {
    for (const { worker, known } of this.#slots)
      if (known.delete(key)) worker.post({ forget: key });
  }

  #hear(slot, { ready, broken, job: id, progress, result, failure }) {
    if (slot.gone) return;
    if (ready) {
      slot.ready = true;
      this.#failedStarts = 0;
      return;
    }
    if (broken !== undefined) return this.#crashed(slot, broken);
    const { job } = slot;
    if (job?.id !== id) return;
    if (progress) return job.onProgress?.(progress);
    slot.job = null;
    slot.worker.letGo?.();
    if (result) job.resolve(result);
    else job.reject(new BasalSolverError(failure.code, failure.sentence));
    this.#dispatch();
  }

  #crashed(slot, reason) {
    if (slot.gone || this.#disposed) return;
    this.#retire(slot);
    this.#slots.splice(this.#slots.indexOf(slot), 1);
    const { job } = slot;
    if (job && (job.runs < 2 || !slot.ready)) this.#queue.unshift(job);
    else
      job?.reject(
        new BasalSolverError(
          "crashed",
          `two workers crashed with this job, the last one: ${reason}`,
        ),
      );
    if (!slot.ready && ++this.#failedStarts >= mostFailedStarts) {
      const failure = new BasalSolverError("load_failed", `workers do not start: ${reason}`);
      this.#disposed = true;
      for (const other of this.#slots.splice(0)) {
        other.job?.reject(failure);
        this.#retire(other);
      }
      for (const waiting of this.#queue.splice(0)) waiting.reject(failure);
      return;
    }
    this.#start();
    this.#dispatch();
  }
}

if (Symbol.dispose) Pool.prototype[Symbol.dispose] = Pool.prototype.dispose;
