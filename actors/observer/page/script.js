"use strict";

// Shows what /api/v1/events sends. All text goes through textContent: names are anybody's.

const interval = 250; // ms between samples
const history = 240; // samples in a strip: a minute
const rateWindow = 1000; // ms over which rates are taken
const memory = 10000; // ms of samples that are kept
const stuckAfter = 2000; // ms without a step, in a strip
const idleLimit = 600000; // ms without a key or a click until the page pauses itself
const mostStrips = 64; // executors of a pool with a strip each

const $ = (id) => document.getElementById(id);

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") made.textContent = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

// --- numbers with their units ------------------------------------------------

const scaled = (x, units, step) => {
  let i = 0;
  while (Math.abs(x) >= step && i + 1 < units.length) {
    x /= step;
    i += 1;
  }
  const digits = x === 0 || Math.abs(x) >= 100 || Number.isInteger(x) ? 0 : x >= 10 ? 1 : 2;
  return [x.toFixed(digits), units[i]];
};
const count = (x) => scaled(x, ["", " k", " M", " G", " T"], 1000).join("");
const perSecond = (x) => `${count(Math.round(x))}/s`;
const bytes = (x) => scaled(x, ["B", "KiB", "MiB", "GiB", "TiB"], 1024).join(" ");
const nanoseconds = (x) => scaled(x, ["ns", "\u00b5s", "ms", "s"], 1000).join(" ");
const percent = (x) => `${Math.round(100 * x)} %`;
function uptime(ms) {
  const s = Math.floor(ms / 1000);
  const parts = [Math.floor(s / 86400), Math.floor(s / 3600) % 24, Math.floor(s / 60) % 60, s % 60];
  const first = parts.findIndex((x) => x > 0);
  const from = first < 0 ? 3 : Math.min(first, 3);
  return parts.map((x, i) => `${x} ${"dhms"[i]}`).slice(from, from + 2).join(" ");
}

// --- samples -------------------------------------------------------------------

const samples = []; // of the last memory, oldest first

/** The newest sample, and the one that is at least `ms` older, or the oldest there is. */
function since(ms) {
  const now = samples.at(-1);
  return samples.findLast((x) => now.time_ms - x.time_ms >= ms) ?? samples[0];
}

/** What `of(sample)` grew by in a second, over the last one. */
function rate(of) {
  const now = samples.at(-1);
  const before = since(rateWindow);
  const passed = now.time_ms - before.time_ms;
  return passed > 0 ? Math.max(0, (of(now) - (of(before) ?? 0)) * (1000 / passed)) : 0;
}

/** What `of(sample)` grew by in the last `ms`. */
const growth = (of, ms = memory) => of(samples.at(-1)) - (of(since(ms)) ?? 0);

/** Of the list `of(sample)`, the element with this name; an empty one if there is none. */
const named = (of, name, empty) => (sample) => of(sample).find((x) => x.name === name) ?? empty;

const sum = (list, of) => list.reduce((all, x) => all + of(x), 0);

// --- tables: sorted by a click on a column's name -------------------------------

class Table {
  /** Sorted by the column `by`, of numbers from the greatest down, until another one is clicked. */
  constructor(place, columns, empty, { by = 1 } = {}) {
    this.place = $(place);
    this.columns = columns;
    this.empty = empty;
    this.sorted = by;
    this.descending = by > 0;
    this.shown = null;
  }

  build() {
    const row = element("tr");
    this.heads = this.columns.map((column, i) => {
      const button = element("button", { type: "button", title: column.help, text: column.name });
      button.addEventListener("click", () => {
        this.descending = this.sorted === i ? !this.descending : i > 0;
        this.sorted = i;
        render();
      });
      const head = element("th", { scope: "col", ...(column.words && { class: "words" }) }, button);
      row.append(head);
      return head;
    });
    this.body = element("tbody");
    const table = element("table", {}, element("thead", {}, row), this.body);
    this.shown = element("div", { class: "scroll" }, table);
    this.place.replaceChildren(this.shown);
  }

  show(rows) {
    if (rows.length === 0) {
      this.shown = null;
      this.place.replaceChildren(element("p", { class: "empty", text: this.empty }));
      return;
    }
    if (this.shown === null) this.build();
    this.heads.forEach((head, i) => {
      if (i === this.sorted) {
        head.setAttribute("aria-sort", this.descending ? "descending" : "ascending");
      } else head.removeAttribute("aria-sort");
    });
    const key = this.columns[this.sorted].value;
    const sign = this.descending ? -1 : 1;
    rows.sort((a, b) => sign * (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
    while (this.body.rows.length > rows.length) this.body.deleteRow(-1);
    rows.forEach((x, r) => {
      const row = this.body.rows[r] ?? this.body.insertRow();
      this.columns.forEach((column, c) => {
        const cell = row.cells[c] ?? row.insertCell();
        const text = (column.text ?? column.value)(x);
        if (cell.textContent !== text) cell.textContent = text;
        if (column.words) cell.className = "words";
        const help = c === 0 ? text : column.help;
        if (cell.title !== help) cell.title = help;
      });
    });
  }
}

/** What is told of a type of actors, and of a single one. */
const actorColumns = [
  {
    name: "busy",
    help: "Executors that it kept busy, on average over a second",
    value: (x) => x.busy,
    text: (x) => `${x.busy.toFixed(2)} executors`,
  },
  {
    name: "messages",
    help: "Messages handled in a second; an estimate where turns are short and many",
    value: (x) => x.messages,
    text: (x) => perSecond(x.messages),
  },
  {
    name: "handler",
    help: "Time of a handler: half took at most the first, 99 of 100 at most the second",
    value: (x) => x.handlers.p99_ns,
    text: (x) => spread(x.handlers),
  },
  {
    name: "delay",
    help:
      "From the message that wakes it to its turn: half took at most the first, " +
      "99 of 100 at most the second",
    value: (x) => x.delays.p99_ns,
    text: (x) => spread(x.delays),
  },
  {
    name: "mailbox",
    help: "The most messages that waited for one actor, of late",
    value: (x) => x.mailbox,
    text: (x) => count(x.mailbox),
  },
  {
    name: "longest",
    help: "The longest handler, and the message that it handled",
    value: (x) => x.longest_ns,
    text: (x) =>
      x.longest_ns === 0 ? "\u2013" : `${nanoseconds(x.longest_ns)} ${x.longest_message}`,
  },
];
const spread = (times) =>
  times.count === 0 ? "\u2013" : `${nanoseconds(times.p50_ns)}, ${nanoseconds(times.p99_ns)}`;

const types = new Table(
  "types",
  [
    { name: "type", help: "The name that actors of the type share", value: (x) => x.name },
    ...actorColumns,
    {
      name: "spawned",
      help: "Actors a second that had their first turn",
      value: (x) => x.spawned,
      text: (x) => perSecond(x.spawned),
    },
    {
      name: "ended",
      help: "Actors a second that had their last turn",
      value: (x) => x.ended,
      text: (x) => perSecond(x.ended),
    },
  ],
  "No actor of such a name has had a turn since somebody watches.",
);

const busiest = new Table(
  "busiest",
  [
    { name: "actor", help: "Type and number of the actor", value: (x) => `${x.name} ${x.id}` },
    ...actorColumns,
  ],
  "No actor of such a name has had a turn since somebody watches.",
);

function showActors(now) {
  const wanted = $("filter").value.toLowerCase();
  const empty = { busy_ns: 0, messages: 0, spawned: 0, ended: 0 };
  const rows = (of) => {
    const key = (x) => `${x.id} ${x.name}`;
    // A list is searched once a sample, not once a row.
    const known = new Map([now, since(rateWindow)].map((s) =>
      [s, new Map(of(s).map((x) => [key(x), x]))]));
    return of(now).filter((x) => x.name.toLowerCase().includes(wanted)).map((x) => {
      const at = (name) => rate((s) => (known.get(s).get(key(x)) ?? empty)[name]);
      return { ...x, busy: at("busy_ns") / 1e9, messages: at("messages"), spawned: at("spawned"),
               ended: at("ended") };
    });
  };
  types.show(rows((s) => s.stats.actor_types));
  busiest.show(rows((s) => s.stats.busy_actors));
}

$("filter").addEventListener("input", () => render());

const overruns = new Table(
  "overruns",
  [
    { name: "actor", help: "The name of the actor's type", value: (x) => x.name },
    {
      name: "overruns now",
      help: "Times a second that it kept its executor for more than a quantum",
      value: (x) => x.now,
      text: (x) => perSecond(x.now),
    },
    {
      name: "overruns",
      help: "The same since the start",
      value: (x) => x.overruns,
      text: (x) => count(x.overruns),
    },
    {
      name: "quanta",
      help: "Whole quanta in these, since the start",
      value: (x) => x.quanta,
      text: (x) => count(x.quanta),
    },
    {
      name: "longest",
      help: "The longest time between two messages or forks, since the start",
      value: (x) => x.longest_us,
      text: (x) => nanoseconds(1000 * x.longest_us),
    },
  ],
  "No actor has kept its executor for more than a quantum.",
);

const functions = new Table(
  "functions",
  [
    { name: "function", help: "The name that it was declared with", value: (x) => x.name },
    {
      name: "busy",
      help:
        "Executors that its computations had, on average over a second; " +
        "what a branch has had counts when it ends",
      value: (x) => x.busy,
      text: (x) => `${x.busy.toFixed(2)} executors`,
    },
    {
      name: "calls",
      help: "Calls a second",
      value: (x) => x.calls,
      text: (x) => perSecond(x.calls),
    },
    {
      name: "offloaded",
      help: "Share of all its calls that were sent to a compute executor",
      value: (x) => x.offloaded,
      text: (x) => percent(x.offloaded),
    },
    {
      name: "forks",
      help: "Forks a second; counted when a computation ends",
      value: (x) => x.forks,
      text: (x) => perSecond(x.forks),
    },
    {
      name: "thefts",
      help: "Right continuations a second that other executors took",
      value: (x) => x.thefts,
      text: (x) => perSecond(x.thefts),
    },
    {
      name: "stolen",
      help: "Share of its forks whose right branch another executor took, since the start",
      value: (x) => x.stolen,
      text: (x) => percent(x.stolen),
    },
    {
      name: "failed",
      help: "Calls that ended by an exception, since the start",
      value: (x) => x.failed,
      text: (x) => count(x.failed),
    },
  ],
  "No pure function has been called.",
);

const choosers = new Table(
  "choosers",
  [
    {
      name: "handler",
      help: "Actor and message type, or the name it was given",
      value: (x) => x.name,
    },
    {
      name: "decisions",
      help: "Decisions a second",
      value: (x) => x.now,
      text: (x) => perSecond(x.now),
    },
    {
      name: "elsewhere",
      help: "Share of all decisions that sent the handler to a compute executor",
      value: (x) => x.share,
      text: (x) => percent(x.share),
    },
    {
      name: "function",
      help: "Typical time of the handler, as believed now",
      value: (x) => x.function_ns,
      text: (x) => nanoseconds(x.function_ns),
    },
    {
      name: "offload",
      help: "What sending it away costs, as believed now",
      value: (x) => x.offload_ns,
      text: (x) => nanoseconds(x.offload_ns),
    },
    { name: "why", help: "Decisions and beliefs in words", value: (x) => x.why, words: true },
  ],
  "No adaptive handler has run.",
);

function showTables(now) {
  const ofFunctions = (x) => x.stats.posse.functions;
  overruns.show(
    now.stats.overruns.map((x) => {
      const find = named((s) => s.stats.overruns, x.name, { overruns: 0 });
      return { ...x, now: rate((s) => find(s).overruns) };
    }),
  );
  functions.show(
    ofFunctions(now).map((x) => {
      const find = named(ofFunctions, x.name, { calls: 0, forks: 0, thefts: 0, busy_ns: 0 });
      return {
        name: x.name,
        failed: x.failed,
        stolen: x.forks > 0 ? 1 - x.inlined / x.forks : 0,
        offloaded: x.calls > 0 ? x.offloaded / x.calls : 0,
        busy: rate((s) => find(s).busy_ns) / 1e9,
        calls: rate((s) => find(s).calls),
        forks: rate((s) => find(s).forks),
        thefts: rate((s) => find(s).thefts),
      };
    }),
  );
  const decided = (x) => x.inline_decisions + x.offload_decisions;
  choosers.show(
    now.stats.choosers.map((x, i) => {
      const empty = { inline_decisions: 0, offload_decisions: 0 };
      const find = named((s) => s.stats.choosers, x.name, empty);
      return {
        name: x.name,
        now: rate((s) => decided(find(s))),
        share: decided(x) > 0 ? x.offload_decisions / decided(x) : 0,
        function_ns: x.function_time.typical_ns,
        offload_ns: x.offload_overhead.typical_ns,
        why: now.words.choosers[i],
      };
    }),
  );
}

const levels = new Table(
  "levels",
  [
    {
      name: "level",
      help: "How urgent the tasks are, the most urgent first",
      value: (x) => x.place,
      text: (x) => x.name,
    },
    {
      name: "queued",
      help: "Tasks that wait, now; one that was cancelled counts until its turn comes",
      value: (x) => x.queued_now,
      text: (x) => count(x.queued_now),
    },
    {
      name: "oldest",
      help: "For how long the oldest task that waits has done so; at most an eighth too long",
      value: (x) => x.oldest_us,
      text: (x) => (x.queued_now > 0 ? nanoseconds(1000 * x.oldest_us) : "\u2013"),
    },
    {
      name: "running",
      help: "Tasks under way, now",
      value: (x) => x.running_now,
      text: (x) => count(x.running_now),
    },
    {
      name: "done",
      help: "Tasks a second that ended well",
      value: (x) => x.now,
      text: (x) => perSecond(x.now),
    },
    {
      name: "failed",
      help: "Tasks that threw, since the start",
      value: (x) => x.failed,
      text: (x) => count(x.failed),
    },
    {
      name: "refused",
      help: "Tasks for which there was no room, or not in time, since the start",
      value: (x) => x.rejected + x.timed_out,
      text: (x) => count(x.rejected + x.timed_out),
    },
  ],
  "There is no background work.",
  { by: 0 },
);

function showLevels(now) {
  const of = (s) => s.stats.background.levels;
  levels.show(
    of(now).map((x, place) => {
      const find = named(of, x.name, { done: 0 });
      return { ...x, place, now: rate((s) => find(s).done) };
    }),
  );
}

// --- solver ------------------------------------------------------------------------

/** How many solves ended in a state. */
const endColumn = (name, state, help) => ({
  name,
  help: `${help}, since the start`,
  value: (x) => x[state],
  text: (x) => count(x[state]),
});

const methods = new Table(
  "methods",
  [
    { name: "method", help: "The method that made x", value: (x) => x.name },
    {
      name: "solves",
      help: "Solves a second that ended with a result",
      value: (x) => x.now,
      text: (x) => perSecond(x.now),
    },
    {
      name: "mean time",
      help: "From permit to result, the mean over those of the last second",
      value: (x) => x.mean,
      text: (x) => (x.mean > 0 ? nanoseconds(x.mean) : "\u2013"),
    },
    {
      name: "time",
      help:
        "From permit to result, since the start: half took at most the first, " +
        "99 of 100 at most the second; right to a factor of four",
      value: (x) => x.times.p99_ns,
      text: (x) => spread(x.times),
    },
    endColumn("converged", "converged", "Solves that reached their tolerance"),
    endColumn("stalled", "stalled", "Solves that made no progress any more"),
    endColumn("diverged", "diverged", "Solves whose residual grew"),
    endColumn("out of budget", "budget_exhausted", "Solves that a limit ended first"),
  ],
  "Nothing has been solved.",
);

const solvesOf = (method) => sum(method.ended, (x) => x.solves);

function showSolver(now) {
  const { solver } = now.stats;
  const there = solver.solvers > 0 || solver.failures.length > 0;
  $("solver").hidden = !there;
  if (!there) return;
  const failed = (name) => solver.failures.find((x) => x.name === name)?.solves ?? 0;
  showFacts("solving", [
    ["solves", perSecond(rate((s) => sum(s.stats.solver.methods, solvesOf))), "",
     "Solves that ended with a result, whichever its state"],
    ["permits in use", count(solver.running), `of ${count(solver.permits)}`,
     "Permits that solves have, now, of those that there are; who finds none waits"],
    ["waiting", count(solver.waiting), "requests",
     "Requests that have neither begun nor failed, now"],
    ["solvers", count(solver.solvers), "now", "Solvers that show themselves, together here"],
    ["failed", count(failed("failed")), "requests",
     "Requests whose solve ended with an error, since the start"],
    ["rejected", count(failed("rejected")), "requests",
     "Requests refused because all permits were in use, since the start"],
    ["timed out", count(failed("timed_out")), "requests",
     "Requests that waited for a permit for too long, since the start"],
    ["cancelled", count(failed("cancelled")), "requests",
     "Requests that who made them has cancelled, since the start"],
  ]);
  const empty = { ended: [], times: { count: 0, sum_ns: 0 } };
  methods.show(
    solver.methods.map((x) => {
      const find = named((s) => s.stats.solver.methods, x.name, empty);
      const ended = rate((s) => solvesOf(find(s)));
      const spent = rate((s) => find(s).times.sum_ns);
      const states = Object.fromEntries(x.ended.map((one) => [one.name, one.solves]));
      return { ...states, name: x.name, times: x.times, now: ended,
               mean: ended > 0 ? spent / ended : 0 };
    }),
  );
}

// --- facts -----------------------------------------------------------------------

function showFacts(place, facts) {
  const list = $(place);
  facts.forEach(([name, value, unit, help], i) => {
    let one = list.children[i];
    if (!one) {
      one = element("div", {}, element("dt"), element("dd"));
      list.append(one);
    }
    one.title = help;
    one.firstChild.textContent = name;
    one.lastChild.replaceChildren(value, ...(unit ? [element("span", { text: unit })] : []));
  });
}

const split = (text) => text.split(" ");

function showHead(now) {
  const { process: p, stats } = now;
  document.title = `${p.name} \u2013 basal`;
  $("name").textContent = p.name;
  const load = (pool) => (sum(pool, (x) => x.load_permille) / 1000).toFixed(1);
  const { message_executors: messages, compute_executors: compute } = stats;
  showFacts("facts", [
    ["process", String(p.pid), "", "Process id"],
    ["up", uptime(p.uptime_ms), "", "Time since the process started"],
    ["basal", p.version, "", "Version"],
    ["CPU", (rate((s) => s.process.cpu_ms) / 1000).toFixed(2), "CPUs",
     "CPU time of the whole process, a second"],
    ["message executors", load(messages), `of ${messages.length} busy`,
     "Executors that run actors: average number running"],
    ["compute executors", load(compute), `of ${compute.length} busy`,
     "Executors that run what was stolen or offloaded: average number running"],
    ["actors", count(stats.actors_now), "", "Actors that have not ended"],
    ["memory", ...split(bytes(p.resident_bytes)), "Resident memory of the process"],
    ["files", count(p.open_fds), "open", "Open file descriptors"],
  ]);
  const b = stats.background;
  const longest = stats.heap_pauses.count > 0 ? split(nanoseconds(stats.heap_longest_pause_ns))
    : ["\u2013", ""];
  const [pause, unit] = split(nanoseconds(rate((s) => s.stats.heap_pauses.sum_ns)));
  showFacts("others", [
    ["background tasks", perSecond(rate((s) => s.stats.background.done)), "done",
     "Background tasks that ended well"],
    ["queued", count(b.queued_now), "tasks", "Background tasks that wait, now"],
    ["running", count(b.running_now), "tasks", "Background tasks under way, now"],
    ["typical", ...split(nanoseconds(1000 * b.typical_us)), "Median run time of the latest tasks"],
    ["failed", count(b.failed), "tasks", "Background tasks that threw, since the start"],
    ["refused", count(b.rejected + b.timed_out), "tasks",
     "Background tasks refused for want of room, or too late, since the start"],
    ["timers", count(stats.timers_now), "wait", "Timeouts and delayed messages that wait, now"],
    ["collected heap", ...split(bytes(stats.heap_bytes)), "Garbage included, now"],
    ["pauses", pause, `${unit}/s`, "Time a second for which collections stop all threads"],
    ["a pause", spread(stats.heap_pauses), "",
     "Time of a pause, since the start: half took at most the first, 99 of 100 at most the second"],
    ["longest pause", ...longest, "Time of the longest pause, since the start"],
    ["computations", count(stats.posse.computations_now), "now",
     "Calls of pure functions under way"],
    ["merge waits", perSecond(rate((s) => s.stats.posse.merge_waits)), "",
     "Victims suspended until a stolen branch had ended"],
  ]);
}

// --- executors ---------------------------------------------------------------------

const pools = [
  { key: "message_executors", work: "message_work", name: "message", rows: [] },
  { key: "compute_executors", work: "compute_work", name: "compute", rows: [] },
];
const steps = (x) => x.tasks_run + x.suspensions + x.quantum_ends + x.times_parked;
const heads = [
  ["running", "Share of its time that it runs work, lately"],
  ["tasks", "Pieces of work that it ran"],
  ["stolen", "Of these, taken from other executors"],
  ["sleeps", "Times that it went to sleep"],
  ["waiting", "Pieces of work in its own queue, now"],
];

function buildPool(pool, size) {
  const grid = element("div", { class: "strip pool" });
  grid.append(element("span", { class: "head", text: pool.name }), element("span"));
  heads.forEach(([name, help], i) => {
    const wide = i > 0 ? " wide" : "";
    grid.append(element("span", { class: `head number${wide}`, title: help, text: name }));
  });
  pool.rows = Array.from({ length: size }, (_, i) => {
    const row = {
      canvas: element("canvas", { role: "img" }),
      cells: heads.map(([, help], c) =>
        element("span", { class: `number${c > 0 ? " wide" : ""}`, title: help })),
      past: [], // [load, overruns] a sample; null: no data
      steps: -1,
      since: 0, // when it last made a step
      detail: element("p", { class: "detail quiet", hidden: "" }),
    };
    const all = size === 1 && pool.together;
    const label = all
      ? element("span", { class: "quiet", text: "all" })
      : element("button", { type: "button", "aria-expanded": "false", text: String(i),
                            title: "Shows what it runs now, and what waits for it" });
    label.addEventListener("click", () => {
      if (all) return;
      row.detail.hidden = !row.detail.hidden;
      label.setAttribute("aria-expanded", String(!row.detail.hidden));
      if (samples.length > 0) showDetail(pool, row, samples.at(-1), i);
    });
    grid.append(label, row.canvas, ...row.cells, row.detail);
    return row;
  });
  return grid;
}

/** What the executor runs now, and what is behind it. */
function showDetail(pool, row, now, i) {
  if (row.detail.hidden) return;
  const x = now.stats[pool.key][i];
  const work = now.stats[pool.work][i];
  row.detail.textContent =
    `${work ? `Runs ${work}` : "Runs nothing"}; ${count(x.waiting_now)} pieces of work wait ` +
    `in its queue. Since the start: ${count(x.tasks_run)} pieces of work, of which ` +
    `${count(x.tasks_stolen)} stolen; ${count(x.suspensions)} suspensions, ` +
    `${count(x.quantum_ends)} quantum ends, ${count(x.overruns)} overruns.`;
}

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);

function draw(row) {
  const { canvas } = row;
  const scale = window.devicePixelRatio || 1;
  const width = Math.round(canvas.clientWidth * scale);
  const height = Math.round(canvas.clientHeight * scale);
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d");
  const palette = { run: color("--run"), over: color("--over"), stuck: color("--stuck") };
  context.clearRect(0, 0, width, height);
  const step = width / history;
  row.past.forEach((x, i) => {
    if (x === null) return;
    const [load, state] = x;
    const left = Math.floor((history - row.past.length + i) * step);
    const right = Math.floor((history - row.past.length + i + 1) * step);
    const bar = (kind, share) => {
      const tall = Math.max(scale, Math.round(height * share)); // idle: a line
      context.fillStyle = palette[kind];
      context.fillRect(left, height - tall, Math.max(1, right - left), tall);
    };
    bar(state === "stuck" ? "stuck" : "run", load);
    if (state === "over") bar("over", 0.25);
  });
}

/** Those of a pool that is too large for a strip each, as one: sums, and the mean load. */
function together(all) {
  const total = {};
  for (const key of Object.keys(all[0])) total[key] = sum(all, (x) => x[key]);
  total.load_permille /= all.length;
  return [total];
}

function showExecutors(now, missed) {
  for (const pool of pools) {
    pool.together = now.stats[pool.key].length > mostStrips;
    const of = (s) => (pool.together ? together(s.stats[pool.key]) : s.stats[pool.key]);
    const all = of(now);
    if (pool.rows.length !== all.length) {
      const grid = buildPool(pool, all.length);
      if (pool.grid) pool.grid.replaceWith(grid);
      else $("executors").append(grid);
      pool.grid = grid;
    }
    const before = samples.length > 1 ? of(samples.at(-2)) : all;
    all.forEach((x, i) => {
      const row = pool.rows[i];
      if (steps(x) !== row.steps || x.load_permille < 900) row.since = now.time_ms;
      row.steps = steps(x);
      row.stuck_ms = now.time_ms - row.since;
      const overran = before[i] && x.overruns > before[i].overruns;
      const state = row.stuck_ms >= stuckAfter ? "stuck" : overran ? "over" : "run";
      for (let n = 0; n < missed; n += 1) row.past.push(null);
      row.past.push([x.load_permille / 1000, state]);
      row.past.splice(0, row.past.length - history);
      const at = (key) => (s) => of(s)[i]?.[key] ?? 0;
      const texts = [
        percent(x.load_permille / 1000),
        perSecond(rate(at("tasks_run"))),
        perSecond(rate(at("tasks_stolen"))),
        perSecond(rate(at("times_parked"))),
        count(x.waiting_now),
      ];
      texts.forEach((text, c) => (row.cells[c].textContent = text));
      if (!pool.together) showDetail(pool, row, now, i);
      row.canvas.setAttribute("aria-label", `${pool.name} executor ${i}: ${texts[0]} running`);
      draw(row);
    });
  }
}

// --- why thefts were made or not ----------------------------------------------------

function showVerdicts(now) {
  const place = $("verdicts");
  const all = Object.keys(now.words.verdicts)
    .map((name) => ({ name, n: growth((s) => s.stats.posse.verdicts[name] ?? 0) }))
    .filter((x) => x.n > 0)
    .sort((a, b) => b.n - a.n);
  const looks = sum(all, (x) => x.n);
  if (looks === 0) {
    place.replaceChildren(element("p", { class: "empty", text: "Nobody has looked for a theft." }));
    return;
  }
  const bar = element("div", { class: "stack" });
  const keys = element("div", { class: "keys" });
  all.forEach((x, i) => {
    const kind = `c${i < 6 ? i + 1 : 0}`;
    const meaning = now.words.verdicts[x.name];
    const part = element("div", { class: kind, title: `${meaning}: ${count(x.n)} looks` });
    part.style.flexGrow = x.n;
    bar.append(part);
    const help = `${x.name}: ${count(x.n)} of ${count(looks)} looks in the last 10 s`;
    keys.append(
      element("i", { class: kind }),
      element("span", { text: x.n < looks / 200 ? "<1 %" : percent(x.n / looks), title: help }),
      element("span", { text: meaning, title: help }),
    );
  });
  place.replaceChildren(bar, keys);
}

// --- warnings ------------------------------------------------------------------------

// Where the page has more on it, by kind: the id of an element.
const placesOfWarnings = {
  long_handler: "overruns",
  blocked_executor: "executors",
  long_wait: "executors",
  growing_mailbox: "types",
  nothing_stolen: "verdicts",
  memory_limit: "functions",
  collection: "others",
  dear_offload: "choosers",
  lost_records: "record",
  refused_tasks: "levels",
};
const noWarning = element("li", {
  class: "none",
  text: "None: nothing blocks, overruns, waits for long or is refused.",
});
const warningItems = new Map(); // those that are shown, by kind and subject

/** Brings the row of the warning's subject into view, or the part of the page that it is about. */
function showPlace(x) {
  const place = $(placesOfWarnings[x.kind]);
  const row = [...place.querySelectorAll("tbody tr")]
    .find((one) => one.cells[0].textContent === x.subject);
  (row ?? place.closest("section")).scrollIntoView({ block: row ? "center" : "start" });
  if (!row) return;
  row.classList.add("found");
  setTimeout(() => row.classList.remove("found"), 3000);
}

/** An item that stays while the warning does, so that it can be clicked and keeps the focus. */
function warningItem(x) {
  const key = `${x.kind} ${x.subject}`;
  let item = warningItems.get(key);
  if (!item) {
    const cause = element("b");
    const rest = element("span");
    const link = element("button", { type: "button", text: "Show", class: "link",
                                     title: "Goes to what the page has on it" });
    link.addEventListener("click", () => showPlace(x));
    const links = placesOfWarnings[x.kind] ? [link] : [];
    item = element("li", { title: x.kind }, element("p", {}, cause),
                   element("p", { class: "quiet" }, rest, ...links));
    Object.assign(item, { cause, rest });
    warningItems.set(key, item);
  }
  return [key, item];
}

function showWarnings(now) {
  const { warnings } = now.stats;
  const items = warnings.map((x) => {
    const [key, item] = warningItem(x);
    item.cause.textContent = x.cause;
    item.rest.textContent = `For ${uptime(now.time_ms - x.since_ms)}. ${x.remedy} `;
    return [key, item];
  });
  const keys = items.map(([key]) => key);
  for (const key of warningItems.keys()) if (!keys.includes(key)) warningItems.delete(key);
  // Those that stay are not moved: an element that is loses the focus.
  const list = $("warnings");
  const wanted = items.length > 0 ? items.map(([, item]) => item) : [noWarning];
  for (const child of [...list.children]) if (!wanted.includes(child)) child.remove();
  wanted.forEach((item, i) => {
    if (list.children[i] !== item) list.insertBefore(item, list.children[i] ?? null);
  });
  const n = warnings.length;
  $("verdict").className = `pill ${n === 0 ? "good" : "bad"}`;
  $("verdict").textContent = n === 0 ? "all well" : n === 1 ? "1 warning" : `${n} warnings`;
}

// --- questions to the program ----------------------------------------------------------

let asked = 0;

async function showBox() {
  const box = await fetch("/api/v1/ask").then((x) => x.json()).catch(() => ({}));
  $("h-ask").textContent = box.label ?? "";
  $("box").hidden = !box.label;
}

$("ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  const text = $("question").value.trim();
  if (text === "") return;
  asked += 1;
  const number = asked;
  const start = performance.now();
  $("asked").textContent = "asking";
  const answer = await fetch(`/api/v1/ask?text=${encodeURIComponent(text)}`).then(
    async (x) => (x.ok ? (await x.json()).answer : x.text()),
  ).catch(() => "The program does not answer.");
  if (number !== asked) return; // of an older question
  $("asked").textContent = `answered in ${nanoseconds(1e6 * (performance.now() - start))}`;
  $("answer").textContent = answer;
  $("answer").hidden = false;
});

// --- the stream ------------------------------------------------------------------------

function render() {
  const now = samples.at(-1);
  if (!now) return;
  showHead(now);
  showWarnings(now);
  showVerdicts(now);
  showActors(now);
  showTables(now);
  showLevels(now);
  showSolver(now);
}

function take(now) {
  const last = samples.at(-1);
  if (last && (now.process.pid !== last.process.pid || now.tick < last.tick)) {
    samples.length = 0; // another process, or another observer: nothing to compare with
  }
  const passed = last ? now.time_ms - last.time_ms : 0;
  const missed = passed > 4 * interval ? Math.min(history, Math.round(passed / interval) - 1) : 0;
  samples.push(now);
  while (samples.length > 2 && now.time_ms - samples[1].time_ms > memory) samples.shift();
  showExecutors(now, missed);
  render();
}

let source = null;
let paused = false;
let retry = 0;
let touched = Date.now();

function say(text) {
  $("live").textContent = text;
}

function close() {
  source?.close();
  source = null;
  clearTimeout(retry);
}

function open() {
  close();
  source = new EventSource(`/api/v1/events?interval=${interval}`);
  source.onopen = () => {
    say("live");
    showBox();
  };
  source.onmessage = (event) => {
    say("live");
    take(JSON.parse(event.data));
    if (Date.now() - touched > idleLimit) {
      pause(true, "paused: nobody has touched the page for 10 minutes");
    }
  };
  source.onerror = async () => {
    $("verdict").className = "pill";
    $("verdict").textContent = "not connected";
    say("connecting again");
    if (source?.readyState !== EventSource.CLOSED) return; // the browser tries by itself
    close();
    retry = setTimeout(open, 2000);
    const status = await fetch("/version").then((x) => x.status, () => 0);
    if (paused) return; // in the meantime
    if (status === 401) say("the program has another token now: open the address it has logged");
    else if (status === 200) say("four others are watching; waiting for a place");
  };
}

function pause(stop, why = "paused") {
  paused = stop;
  $("pause").textContent = stop ? "Continue" : "Pause";
  if (stop) {
    close();
    say(why);
  } else open();
}

$("pause").addEventListener("click", () => pause(!paused));
document.addEventListener("keydown", (event) => {
  if (event.key === " " && event.target === document.body) {
    event.preventDefault();
    pause(!paused);
  }
});
for (const kind of ["keydown", "pointerdown", "pointermove"]) {
  document.addEventListener(kind, () => (touched = Date.now()), { passive: true });
}
document.addEventListener("visibilitychange", () => {
  if (document.hidden) close();
  else if (!paused) open();
});
window.addEventListener("resize", () => pools.forEach((pool) => pool.rows.forEach(draw)));
if (!document.hidden) open();
