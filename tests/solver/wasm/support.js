// Parts shared by the tests in this folder. BASAL_WASM_PACKAGE is the package's folder,
// BASAL_WASM_BUILD that of the programs built for the tests.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export const packageFolder = process.env.BASAL_WASM_PACKAGE;
export const buildFolder = process.env.BASAL_WASM_BUILD;
export const corpusFolder = new URL("../fuzz/corpus/", import.meta.url);

export const basal = await import(pathToFileURL(join(packageFolder, "src/node.js")));
await basal.load();

/** The five-point stencil on a grid: { rows, columns, rowStarts, columnIndices, values }. */
export function poisson(side) {
  const rowStarts = [0];
  const columnIndices = [];
  const values = [];
  const add = (column, value) => {
    columnIndices.push(column);
    values.push(value);
  };
  for (let row = 0; row < side * side; ++row) {
    if (row >= side) add(row - side, -1);
    if (row % side > 0) add(row - 1, -1);
    add(row, 4);
    if (row % side < side - 1) add(row + 1, -1);
    if (row < side * (side - 1)) add(row + side, -1);
    rowStarts.push(values.length);
  }
  return {
    rows: side * side,
    columns: side * side,
    rowStarts: Int32Array.from(rowStarts),
    columnIndices: Int32Array.from(columnIndices),
    values: Float64Array.from(values),
  };
}

export function rightSide(size, seed = 1) {
  return Float64Array.from({ length: size }, (_, i) => Math.sin(seed * 1000 + i * 1.7));
}

/** Expects a BasalSolverError with this code and a sentence. */
export function refusal(code) {
  return (failure) =>
    failure instanceof basal.BasalSolverError &&
    failure.code === code &&
    failure.message.length > 15;
}

/** The bits of some numbers, to be compared as a string. */
export function bits(numbers) {
  return Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength).toString("hex");
}

/** What native_results.cpp wrote. */
export function nativeSystems() {
  const data = readFileSync(join(buildFolder, "systems.bin"));
  const part = (Type, [at, length]) =>
    new Type(
      data.buffer.slice(
        data.byteOffset + at,
        data.byteOffset + at + length * Type.BYTES_PER_ELEMENT,
      ),
    );
  return JSON.parse(readFileSync(join(buildFolder, "systems.json"), "utf8")).map((system) => ({
    ...system,
    rowStarts: part(Int32Array, system.rowStarts),
    columnIndices: part(Int32Array, system.columnIndices),
    values: part(Float64Array, system.values),
    b: part(Float64Array, system.b),
    x: part(Float64Array, system.x),
    residual: part(Float64Array, system.numbers)[0],
    halfWidth: part(Float64Array, system.numbers)[1],
  }));
}
