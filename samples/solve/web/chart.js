// Residuals by iteration, on a logarithmic axis.

const margin = { left: 56, right: 12, top: 8, bottom: 24 };

export class Chart {
  constructor(canvas) {
    this.canvas = canvas;
    this.history = new Float64Array(0);
    this.goal = 1e-8;
    new ResizeObserver(() => this.draw()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  show(history, goal) {
    this.history = history;
    this.goal = goal;
    this.draw();
  }

  draw() {
    const { canvas, history, goal } = this;
    const scale = devicePixelRatio;
    const { clientWidth: width, clientHeight: height } = canvas;
    canvas.width = width * scale;
    canvas.height = height * scale;
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    const style = getComputedStyle(canvas);
    const colour = (name) => style.getPropertyValue(name);

    const positive = history.filter((r) => r > 0);
    const lowest = Math.floor(Math.log10(positive.reduce((a, b) => Math.min(a, b), goal)));
    const highest = Math.ceil(Math.log10(positive.reduce((a, b) => Math.max(a, b), 1)));
    const last = Math.max(1, history.length);
    const x = (i) => margin.left + ((width - margin.left - margin.right) * i) / last;
    const y = (r) =>
      margin.top +
      ((height - margin.top - margin.bottom) * (highest - Math.log10(r))) /
        Math.max(1, highest - lowest);

    pen.font = "12px system-ui, sans-serif";
    pen.fillStyle = colour("--faint");
    pen.strokeStyle = colour("--line");
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    const every = Math.max(1, Math.ceil((highest - lowest) / 6));
    for (let power = highest; power >= lowest; power -= every) {
      pen.beginPath();
      pen.moveTo(margin.left, y(10 ** power));
      pen.lineTo(width - margin.right, y(10 ** power));
      pen.stroke();
      pen.fillText(power === 0 ? "1" : `1e${power}`, margin.left - 8, y(10 ** power));
    }
    pen.textBaseline = "bottom";
    pen.fillText(`${history.length} iterations`, width - margin.right, height - 2);

    pen.setLineDash([4, 4]);
    pen.strokeStyle = colour("--good");
    pen.beginPath();
    pen.moveTo(margin.left, y(goal));
    pen.lineTo(width - margin.right, y(goal));
    pen.stroke();
    pen.setLineDash([]);

    if (history.length === 0) return;
    pen.strokeStyle = colour("--accent");
    pen.lineWidth = 2;
    pen.lineJoin = "round";
    pen.beginPath();
    pen.moveTo(x(0), y(1));
    const step = Math.max(1, Math.floor(history.length / 2000)); // two a pixel are enough
    for (let i = 0; i < history.length; i += step)
      if (history[i] > 0) pen.lineTo(x(i + 1), y(history[i]));
    pen.stroke();
  }
}
