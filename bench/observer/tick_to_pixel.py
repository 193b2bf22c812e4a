#!/usr/bin/env python3
"""Time from a sample to the picture of it in Debian's chromium, in ms: the median.

usage: tick_to_pixel.py URL

From the time at which the observer took the sample, which the sample has, until the browser has
drawn a frame with it: both are of this machine's clock.
"""
import os
import pathlib
import shutil
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests/actors/observer"))
from page_test import Browser  # noqa: E402

SAMPLES = 30

# A frame is drawn between the callback before it and the next task.
WATCH = """
globalThis.delays = [];
const taken = take;
take = (now) => {
  taken(now);
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => delays.push(Date.now() - now.time_ms);
    port2.postMessage(0);
  });
};
"""


def main():
    executable = os.environ.get("BASAL_CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(executable, profile)
        try:
            browser.call("Page.navigate", url=sys.argv[1])
            browser.until("document.querySelector('#live')?.textContent === 'live'")
            browser.until("document.querySelector('#types').innerText.includes('kind/199')")
            browser.call("Runtime.evaluate", expression=WATCH)
            browser.until(f"delays.length >= {SAMPLES}")
            print(statistics.median(browser.value("delays")))
        finally:
            browser.close()


if __name__ == "__main__":
    main()
