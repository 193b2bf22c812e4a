// Matrices to try, as { rows, columns, rowStarts, columnIndices, values }.

/** `entriesOf(row)` returns [column, value] pairs with ascending columns. */
function build(size, entriesOf) {
  const rowStarts = new Int32Array(size + 1);
  const columnIndices = [];
  const values = [];
  for (let row = 0; row < size; ++row) {
    for (const [column, value] of entriesOf(row)) {
      columnIndices.push(column);
      values.push(value);
    }
    rowStarts[row + 1] = values.length;
  }
  return {
    rows: size,
    columns: size,
    rowStarts,
    columnIndices: Int32Array.from(columnIndices),
    values: Float64Array.from(values),
  };
}

/** A heated plate: the five-point stencil; `wind` makes it lopsided. */
export function plate(side, wind = 0) {
  return build(side * side, (row) =>
    [
      row >= side && [row - side, -1 - wind],
      row % side > 0 && [row - 1, -1 - wind],
      [row, 4 + 2 * wind],
      row % side < side - 1 && [row + 1, -1],
      row < side * (side - 1) && [row + side, -1],
    ].filter(Boolean),
  );
}

/** Random rows of 8 entries, whose absolute values add up to 0.9 times the diagonal. */
export function dominant(size) {
  let state = 42;
  const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
  return build(size, (row) => {
    const entries = new Map();
    for (let k = 0; k < 8; ++k) entries.set(Math.floor(random() * size), random() - 0.5);
    entries.delete(row);
    let sum = 0;
    for (const value of entries.values()) sum += Math.abs(value);
    entries.set(row, sum / 0.9);
    return [...entries].sort(([a], [b]) => a - b);
  });
}

export const generated = {
  "a heated plate, 200 x 200 (40,000 unknowns)": () => plate(200),
  "a heated plate, 500 x 500 (250,000 unknowns)": () => plate(500),
  "a plate in the wind, 200 x 200": () => plate(200, 0.5),
  "a random system, 100,000 unknowns": () => dominant(100_000),
};
