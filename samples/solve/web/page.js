// The page: a matrix from a file or from matrices.js, solved in a pool of workers.

import { Matrix, Pool, load } from "/basal-solver/src/web.js";

import { Chart } from "./chart.js";
import { generated } from "./matrices.js";

const methods = ["automatic", "neumann", "conjugate_gradient", "bicgstab", "gmres"];
const shown = 10; // entries of x

const at = (id) => document.getElementById(id);
const chart = new Chart(at("history"));
let matrix = null;
let pool = null;
let stop = null; // AbortController while a solve is under way

const number = new Intl.NumberFormat("en");

function say(text, kind = "") {
  at("state").textContent = text;
  at("state").className = kind;
}

function use(make, name) {
  at("solve").disabled = true;
  at("shape").textContent = `Reading ${name} ...`;
  setTimeout(() => {
    try {
      const next = make();
      matrix?.dispose();
      matrix = next;
      const { rows, columns, nonzeros } = matrix;
      at("shape").textContent =
        `${name}: ${number.format(rows)} x ${number.format(columns)}, ` +
        `${number.format(nonzeros)} entries`;
      at("solve").disabled = stop !== null;
    } catch (failure) {
      at("shape").textContent = failure.message;
      at("solve").disabled = matrix === null || stop !== null;
    }
  });
}

async function useFile(file) {
  if (!file) return;
  const bytes = new Uint8Array(await file.arrayBuffer());
  use(() => Matrix.fromMarket(bytes), file.name);
}

function showEntries(x) {
  const order = Array.from(x.keys())
    .sort((i, j) => Math.abs(x[j]) - Math.abs(x[i]))
    .slice(0, shown);
  const largest = Math.abs(x[order[0]] ?? 1) || 1;
  at("entries").replaceChildren(
    ...order.map((i) => {
      const row = document.createElement("li");
      const [index, bar, value] = ["span", "i", "span"].map((tag) => document.createElement(tag));
      index.textContent = number.format(i);
      bar.style.width = `${(100 * Math.abs(x[i])) / largest}%`;
      value.textContent = x[i].toPrecision(6);
      row.append(index, bar, value);
      return row;
    }),
  );
}

function showWorkers() {
  const bars = at("workers");
  const { activity } = pool;
  while (bars.children.length < activity.length) bars.append(document.createElement("i"));
  activity.forEach((busy, i) => bars.children[i].classList.toggle("busy", busy));
  if (stop !== null) requestAnimationFrame(showWorkers);
}

// Of one size each, and different from each other.
const rightSide = (rows, k) =>
  Float64Array.from({ length: rows }, (_, i) => (k === 0 ? 1 : Math.sin(i * 0.01 * k + k)));

async function solve() {
  stop = new AbortController();
  at("solve").disabled = true;
  at("stop").disabled = false;
  at("entries").replaceChildren();
  at("why").textContent = "";
  say("Solving ...");
  showWorkers();
  const tolerance = Number(at("tolerance").value);
  const count = Number(at("count").value);
  const start = performance.now();
  const requests = Array.from({ length: count }, (_, k) => ({
    matrix,
    b: rightSide(matrix.rows, k),
    method: at("method").value,
    tolerance,
    history: k === 0,
    onProgress:
      k === 0
        ? ({ history, residual }) => {
            chart.show(history, tolerance);
            at("residual").textContent = residual.toExponential(2);
          }
        : undefined,
  }));
  try {
    const results = await pool.solveBatch(requests, {
      signal: stop.signal,
      onProgress: ({ done, total }) => total > 1 && say(`${done} of ${total} solved`),
    });
    const failed = results.find((result) => result instanceof Error);
    if (failed) throw failed;
    const [first] = results;
    const took = ((performance.now() - start) / 1000).toFixed(2);
    chart.show(first.history, tolerance);
    at("residual").textContent = first.residual.toExponential(2);
    const solved = results.filter(({ state }) => state === "converged").length;
    say(
      count === 1
        ? `${first.state.replace("_", " ")} after ${first.iterations} iterations, ${took} s`
        : `${solved} of ${count} converged, ${took} s`,
      solved === count ? "converged" : "failed",
    );
    at("why").textContent = first.why;
    showEntries(first.x);
  } catch (failure) {
    say(failure.name === "AbortError" ? "Stopped." : failure.message, "failed");
  }
  stop = null;
  showWorkers();
  at("solve").disabled = false;
  at("stop").disabled = true;
}

at("method").append(
  ...methods.map((method) => {
    const name = method === "automatic" ? "the router chooses" : method.replaceAll("_", " ");
    return new Option(name, method);
  }),
);
at("generated").append(...Object.keys(generated).map((name) => new Option(name)));

const drop = at("drop");
drop.addEventListener("dragover", (event) => {
  event.preventDefault();
  drop.classList.add("over");
});
drop.addEventListener("dragleave", () => drop.classList.remove("over"));
drop.addEventListener("drop", (event) => {
  event.preventDefault();
  drop.classList.remove("over");
  useFile(event.dataTransfer.files[0]);
});
at("file").addEventListener("change", ({ target }) => useFile(target.files[0]));
at("generated").addEventListener("change", ({ target }) => {
  use(() => new Matrix(generated[target.value]()), target.value);
});
at("solve").addEventListener("click", solve);
at("stop").addEventListener("click", () => stop?.abort());

try {
  await load();
  pool = new Pool({ workers: Math.min(8, navigator.hardwareConcurrency) });
  at("mode").textContent =
    pool.mode === "shared" ? "share the matrix" : "each have a copy of the matrix";
  showWorkers();
  const [first] = Object.keys(generated);
  use(() => new Matrix(generated[first]()), first);
  document.documentElement.dataset.ready = "";
} catch (failure) {
  say(failure.message, "failed");
}
