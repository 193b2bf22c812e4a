// Checks of every value from outside before it is copied into the module's memory.

import { refuse } from "./errors.js";

function kindOf(value) {
  if (value === null || value === undefined) return String(value);
  return value.constructor?.name ?? typeof value;
}

/** A typed array of that type whose buffer is still there. */
export function checkArray(array, Type, name) {
  if (!(array instanceof Type))
    refuse("bad_argument", `${name} is a ${kindOf(array)}, where a ${Type.name} was expected`);
  try {
    new Uint8Array(array.buffer); // the only way to ask that every engine has
  } catch {
    refuse("detached", `${name}: its buffer was transferred to somebody else, so it is empty`);
  }
  return array;
}

export function checkSize(value, name) {
  if (!Number.isInteger(value) || value < 0 || value > 0x7fffffff)
    refuse(
      "bad_argument",
      `${name} is ${String(value)}, where an integer from 0 to 2^31 - 1 was expected`,
    );
  return value;
}

export function checkObject(value, name) {
  if (value === null || typeof value !== "object")
    refuse(
      "bad_argument",
      `${name} is ${value === null ? "null" : typeof value}, where an object was expected`,
    );
  return value;
}

export function checkFunction(value, name) {
  if (value !== undefined && typeof value !== "function")
    refuse("bad_argument", `${name} is a ${kindOf(value)}, where a function was expected`);
  return value;
}

export function checkSignal(signal) {
  if (signal !== undefined && !(signal instanceof AbortSignal))
    refuse("bad_argument", `signal is a ${kindOf(signal)}, where an AbortSignal was expected`);
  return signal;
}

// The options that are for JavaScript; all others are the module's, which knows their names.
const ours = new Set(["signal", "onProgress", "history", "matrix", "b"]);

/** [name, text] of each option that the module is to read. */
export function moduleOptions(options) {
  const result = [];
  for (const [name, value] of Object.entries(options)) {
    if (ours.has(name) || value === undefined) continue;
    if (!["number", "bigint", "string"].includes(typeof value))
      refuse("bad_option", `${name} is a ${kindOf(value)}, where a number or a name was expected`);
    result.push([name, String(value)]);
  }
  return result;
}
