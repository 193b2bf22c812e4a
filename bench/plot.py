"""A plot of a module's measurements as SVG: ours beside the peers, by workload.

A row for each workload that several implementations have, with the greatest number of threads that
at least two of them have; a mark for each implementation, at its time over the row's shortest, on a
logarithmic scale. Text and lines follow the reader's light or dark scheme.
"""
import math
from xml.sax.saxutils import escape, quoteattr

COLOURS = ["#d1495b", "#2e86ab", "#59a14f", "#edae49", "#8e6bbf", "#7f7f7f", "#00a6a6", "#b07aa1"]
SHAPES = ["M-5,0a5,5 0 1 0 10,0a5,5 0 1 0 -10,0", "M-5,-5h10v10h-10z", "M0,-6l6,6l-6,6l-6,-6z"]
ROW, WIDTH, LEGEND = 18, 420, 18
STYLE = ("text{font:12px sans-serif;fill:#222}line{stroke:#ccc}"
         "@media(prefers-color-scheme:dark){text{fill:#ddd}line{stroke:#555}}")


def rows(workloads):
    """[(workload, threads, {implementation: nanoseconds})] of what can be compared."""
    result = []
    for name, implementations in workloads.items():
        by_threads = {}
        for implementation, cases in implementations.items():
            for threads, case in cases.items():
                if "error" not in case and case["median_ns"] > 0:
                    by_threads.setdefault(threads, {})[implementation] = case["median_ns"]
        compared = [t for t, times in by_threads.items() if len(times) > 1]
        if compared:
            most = max(compared, key=lambda t: (t.isdigit(), int(t) if t.isdigit() else 0, t))
            result.append((name, most, by_threads[most]))
    return result


def mark(number, x, y, title=""):
    """That of the implementation of that number."""
    shape, colour = SHAPES[number // len(COLOURS) % len(SHAPES)], COLOURS[number % len(COLOURS)]
    inner = f"<title>{escape(title)}</title>" if title else ""
    return f'<path transform="translate({x:.1f},{y})" d="{shape}" fill="{colour}">{inner}</path>'


def legend(implementations, width):
    """The marks with their names, in as many lines as they need, and the height of these."""
    out, x, y = [], 10, 14
    for number, name in enumerate(implementations):
        if x + 24 + 7 * len(name) > width:
            x, y = 10, y + LEGEND
        out.append(mark(number, x, y)
                   + f'<text x="{x + 9}" y="{y + 4}">{escape(name)}</text>')
        x += 24 + 7 * len(name)
    return out, y


def svg(module, workloads):
    """The plot, or None if nothing can be compared."""
    found = rows(workloads)
    if not found:
        return None
    numbers = {}
    for _, _, times in found:
        for implementation in times:
            numbers.setdefault(implementation, len(numbers))
    worst = max(max(times.values()) / min(times.values()) for _, _, times in found)
    powers = max(1, math.ceil(math.log2(worst)))

    labels = [name + (f", {threads}" if threads else "") for name, threads, _ in found]
    left = 24 + 7 * max(map(len, labels))

    def x(ratio):
        return left + WIDTH * math.log2(ratio) / powers

    width = left + WIDTH + 30
    names, top = legend(numbers, width)
    top += 32
    height = top + ROW * len(found) + 30
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
           f'aria-label={quoteattr(f"{module}: time over the shortest of each workload")}>',
           f"<style>{STYLE}</style>", *names]
    for power in range(powers + 1):
        out.append(f'<line x1="{x(2 ** power):.1f}" y1="{top - 12}" x2="{x(2 ** power):.1f}" '
                   f'y2="{height - 24}"/><text x="{x(2 ** power):.1f}" y="{height - 8}" '
                   f'text-anchor="middle">{2 ** power}x</text>')
    for i, (_, _, times) in enumerate(found):
        y = top + ROW * i
        out.append(f'<text x="{left - 12}" y="{y + 4}" text-anchor="end">'
                   f'{escape(labels[i])}</text>')
        least = min(times.values())
        for implementation, time in times.items():
            out.append(mark(numbers[implementation], x(time / least), y,
                            f"{implementation}: {time / least:.3g}"))
    return "\n".join(out + ["</svg>"]) + "\n"
