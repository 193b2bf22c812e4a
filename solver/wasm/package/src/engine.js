// One instance of the WebAssembly module, and its functions in JavaScript's terms: arrays are
// copied in and out, failures become exceptions. Handles are addresses in the instance's memory.

import { BasalSolverError, refuse } from "./errors.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

// A module that uses vectors and exceptions, and does nothing.
const smallest = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 15, 1, 13, 0, 6, 64, 11, 65,
  0, 253, 15, 253, 98, 253, 98, 11,
]);

/** Throws `unsupported` where the module cannot run. */
export function checkPlatform(wasm = globalThis.WebAssembly) {
  if (typeof wasm?.validate !== "function")
    refuse("unsupported", "this engine has no WebAssembly (or a policy forbids it)");
  if (!wasm.validate(smallest))
    refuse(
      "unsupported",
      "this engine's WebAssembly lacks vectors of 128 bits or exceptions; " +
        "Chrome 95, Firefox 100, Safari 16.4 and node 18 have both",
    );
}

/** Compiles bytes, a Response or a Promise of either. */
export async function compile(source) {
  checkPlatform();
  const from = await source;
  if (from instanceof WebAssembly.Module) return from;
  try {
    // First, since to name Response makes node load its whole fetch.
    if (ArrayBuffer.isView(from)) return await WebAssembly.compile(from);
    if (typeof Response !== "undefined" && from instanceof Response) {
      if (!from.ok) refuse("load_failed", `${from.url}: the server answered ${from.status}`);
      // Streaming asks for the type application/wasm, which many static servers do not send.
      if (from.headers.get("content-type")?.startsWith("application/wasm"))
        return await WebAssembly.compileStreaming(from);
      return await WebAssembly.compile(await from.arrayBuffer());
    }
    return await WebAssembly.compile(from);
  } catch (cause) {
    if (cause instanceof BasalSolverError) throw cause;
    throw new BasalSolverError("load_failed", `the module cannot be loaded: ${cause.message}`, {
      cause,
    });
  }
}

export class Engine {
  static async start(module) {
    const engine = new Engine();
    try {
      const instance = await WebAssembly.instantiate(module, {
        env: { emscripten_notify_memory_growth() {} },
        wasi_snapshot_preview1: {
          proc_exit(status) {
            throw new Error(`the module ended itself with ${status}`);
          },
          environ_sizes_get: (count, bytes) => engine.noEnvironment(count, bytes),
          environ_get: () => 0,
        },
      });
      engine.wasm = instance.exports;
      engine.wasm._initialize();
    } catch (cause) {
      throw new BasalSolverError("out_of_memory", `no instance can be made: ${cause.message}`, {
        cause,
      });
    }
    engine.states = engine.names("state_name");
    engine.methods = engine.names("method_name");
    engine.preconditioners = engine.names("preconditioner_name");
    return engine;
  }

  noEnvironment(count, bytes) {
    const view = new DataView(this.wasm.memory.buffer);
    view.setUint32(count, 0, true);
    view.setUint32(bytes, 0, true);
    return 0;
  }

  // Growth replaces the buffer, so views are made anew each time.
  view(Type, address, length) {
    return new Type(this.wasm.memory.buffer, address >>> 0, length);
  }

  text(address) {
    const bytes = new Uint8Array(this.wasm.memory.buffer, address >>> 0);
    return decoder.decode(bytes.slice(0, bytes.indexOf(0)));
  }

  names(which) {
    const result = [];
    for (let i = 0; ; ++i) {
      const address = this.wasm[which](i);
      if (address === 0) return result;
      const name = this.text(address);
      if (name === "unknown") return result;
      result.push(name);
    }
  }

  failure() {
    return new BasalSolverError(
      this.text(this.wasm.failure_code()),
      this.text(this.wasm.failure_sentence()),
    );
  }

  /** The value, unless it is the one that means failure. */
  checked(value, failed = 0) {
    if (value === failed) throw this.failure();
    return value;
  }

  /** f(address) with a copy of the array in the instance's memory in the meantime. */
  withCopy(array, f) {
    const address = this.checked(this.wasm.allocate(array.byteLength));
    try {
      this.view(array.constructor, address, array.length).set(array);
      return f(address);
    } finally {
      this.wasm.release(address);
    }
  }

  /** f(handle) of options that exist in the meantime. */
  withOptions(list, f) {
    const options = this.checked(this.wasm.options_new());
    try {
      for (const [name, value] of list)
        this.withCopy(encoder.encode(name + "\0"), (nameAt) =>
          this.withCopy(encoder.encode(value + "\0"), (valueAt) =>
            this.checked(this.wasm.options_set(options, nameAt, valueAt)),
          ),
        );
      return f(options);
    } finally {
      this.wasm.options_delete(options);
    }
  }

  newMatrix({ rows, columns, rowStarts, columnIndices, values }) {
    const draft = this.checked(this.wasm.draft_new(rows, columns, values.length));
    this.view(Int32Array, this.wasm.draft_row_starts(draft), rows + 1).set(rowStarts);
    this.view(Int32Array, this.wasm.draft_columns(draft), values.length).set(columnIndices);
    this.view(Float64Array, this.wasm.draft_values(draft), values.length).set(values);
    return this.checked(this.wasm.matrix_new(draft));
  }

  readMatrix(bytes) {
    return this.withCopy(bytes, (at) => this.checked(this.wasm.matrix_read(at, bytes.length)));
  }

  readVector(bytes) {
    const vector = this.withCopy(bytes, (at) =>
      this.checked(this.wasm.vector_read(at, bytes.length)),
    );
    const result = this.numbers(vector);
    this.wasm.vector_delete(vector);
    return result;
  }

  /** A copy of a vector's numbers. */
  numbers(vector) {
    return this.view(
      Float64Array,
      this.wasm.vector_data(vector),
      this.wasm.vector_size(vector),
    ).slice();
  }

  /** The arrays of a matrix, in the instance's memory: valid until something allocates there. */
  arrays(matrix) {
    const { wasm } = this;
    const rows = wasm.matrix_rows(matrix);
    const nonzeros = wasm.matrix_nonzeros(matrix);
    return {
      rows,
      columns: wasm.matrix_columns(matrix),
      rowStarts: this.view(Int32Array, wasm.matrix_row_starts(matrix), rows + 1),
      columnIndices: this.view(Int32Array, wasm.matrix_column_indices(matrix), nonzeros),
      values: this.view(Float64Array, wasm.matrix_values(matrix), nonzeros),
    };
  }

  /** Reads a result and frees it. */
  takeResult(result) {
    const { wasm } = this;
    const read = {
      x: this.numbers(wasm.result_x(result)),
      state: this.states[wasm.result_state(result)],
      iterations: wasm.result_iterations(result),
      residual: wasm.result_residual(result),
      halfWidth: wasm.result_half_width(result),
      method: this.methods[wasm.result_method(result)],
      preconditioner: this.preconditioners[wasm.result_preconditioner(result)],
      why: this.text(wasm.result_why(result)),
    };
    wasm.result_delete(result);
    return read;
  }

  takeTop(top) {
    const { wasm } = this;
    const entries = Array.from({ length: wasm.top_size(top) }, (_, i) => ({
      index: wasm.top_index(top, i),
      value: wasm.top_value(top, i),
      halfWidth: wasm.top_half_width(top, i),
    }));
    const read = {
      entries,
      settled: wasm.top_settled(top) === 1,
      certain: wasm.top_certain(top) === 1,
      pushes: wasm.top_pushes(top),
    };
    wasm.top_delete(top);
    return read;
  }
}
