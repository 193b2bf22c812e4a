"""A plot of a module's measurements as SVG: ours beside the peers, by workload.

A row for each workload that several implementations have, with the greatest number of threads that
at least two of them have; a dot for each implementation, at its time over the row's shortest, on a
logarithmic scale. Text and lines follow the reader's light or dark scheme.
"""
import math
from xml.sax.saxutils import escape, quoteattr

COLOURS = ["#d1495b", "#2e86ab", "#59a14f", "#edae49", "#8e6bbf", "#7f7f7f", "#00a6a6", "#b07aa1"]
ROW, WIDTH, TOP = 18, 420, 46
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


def svg(module, workloads):
    """The plot, or None if nothing can be compared."""
    found = rows(workloads)
    if not found:
        return None
    colours = {}
    for _, _, times in found:
        for implementation in times:
            colours.setdefault(implementation, COLOURS[len(colours) % len(COLOURS)])
    worst = max(max(times.values()) / min(times.values()) for _, _, times in found)
    powers = max(1, math.ceil(math.log2(worst)))

    labels = [name + (f", {threads}" if threads else "") for name, threads, _ in found]
    left = 24 + 7 * max(map(len, labels))

    def x(ratio):
        return left + WIDTH * math.log2(ratio) / powers

    height = TOP + ROW * len(found) + 30
    width = left + WIDTH + 30
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
           f'aria-label={quoteattr(f"{module}: time over the shortest of each workload")}>',
           f"<style>{STYLE}</style>"]
    at = 10
    for implementation, colour in colours.items():
        out.append(f'<circle cx="{at}" cy="14" r="5" fill="{colour}"/>'
                   f'<text x="{at + 9}" y="18">{escape(implementation)}</text>')
        at += 24 + 7 * len(implementation)
    for power in range(powers + 1):
        out.append(f'<line x1="{x(2 ** power):.1f}" y1="{TOP - 12}" x2="{x(2 ** power):.1f}" '
                   f'y2="{height - 24}"/><text x="{x(2 ** power):.1f}" y="{height - 8}" '
                   f'text-anchor="middle">{2 ** power}x</text>')
    for i, (_, _, times) in enumerate(found):
        y = TOP + ROW * i
        out.append(f'<text x="{left - 12}" y="{y + 4}" text-anchor="end">'
                   f'{escape(labels[i])}</text>')
        least = min(times.values())
        for implementation, time in times.items():
            out.append(f'<circle cx="{x(time / least):.1f}" cy="{y}" r="5" '
                       f'fill="{colours[implementation]}"><title>{escape(implementation)}: '
                       f'{time / least:.3g}</title></circle>')
    return "\n".join(out + ["</svg>"]) + "\n"
