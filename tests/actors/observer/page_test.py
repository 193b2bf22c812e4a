#!/usr/bin/env python3
"""The page in Debian's chromium, over the DevTools protocol on two pipes.

usage: page_test.py PROGRAM SCREENSHOTS

PROGRAM is page_program. Exit status 77 if there is no chromium: ctest counts it as skipped.
"""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

PATIENCE = 60  # seconds for anything that is waited for


class Browser:
    """One tab. Chromium reads commands from its descriptor 3 and writes to 4, NUL after each."""

    def __init__(self, executable, profile):
        command_read, self.commands = os.pipe()
        self.answers, answer_write = os.pipe()

        def as_three_and_four():
            # Out of the way first: either may be 3 or 4 already.
            read, write = os.dup2(command_read, 103), os.dup2(answer_write, 104)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [executable, "--headless=new", "--remote-debugging-pipe", "--no-first-run",
             "--no-sandbox",  # as root, as in most containers, it does not start with one
             "--disable-gpu", "--disable-background-networking", "--disable-component-update",
             "--disable-sync", f"--user-data-dir={profile}", "--window-size=1280,1500"],
            preexec_fn=as_three_and_four, close_fds=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(command_read)
        os.close(answer_write)
        self.number = 0
        self.rest = b""
        self.events = []
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Page", "Network"):
            self.call(domain + ".enable")

    def message(self):
        while b"\0" not in self.rest:
            part = os.read(self.answers, 1 << 20)
            assert part, "chromium has ended"
            self.rest += part
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.commands, json.dumps(request).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def until(self, expression):
        end = time.monotonic() + PATIENCE
        while not self.value(expression):
            assert time.monotonic() < end, f"never true: {expression}\n{self.text()}"
            time.sleep(0.1)

    def text(self):
        return self.value("document.body.innerText")

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def problems(self):
        """Complaints of the page and of the browser."""
        for event in self.events:
            params = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                yield params["exceptionDetails"]
            if event.get("method") == "Log.entryAdded" and params["entry"]["level"] == "error":
                yield params["entry"]
            if event.get("method") == "Runtime.consoleAPICalled" and params["type"] == "error":
                yield params

    def requested(self):
        for event in self.events:
            if event.get("method") == "Network.requestWillBeSent":
                yield event["params"]["request"]["url"]

    def close(self):
        self.process.terminate()
        self.process.wait()


def look(browser, program, url, screenshots):
    origin = url.split("/?")[0]
    browser.call("Page.navigate", url=url)
    browser.until("document.querySelector('#live')?.textContent === 'live'")
    # The token has gone from the address, and no script can read it.
    assert browser.value("location.href") == origin + "/", browser.value("location.href")
    assert browser.value("document.cookie") == ""
    # Names are text, whatever is in them.
    browser.until("document.body.innerText.includes('<img src=x onerror=alert(1)>')")
    browser.until("document.body.innerText.includes('<b>glutton</b>')")
    assert browser.value("document.querySelectorAll('img, main b:not(#warnings b)').length") == 0
    # Each part of the page gets its content.
    browser.until("document.querySelector('#warnings').innerText.includes("
                  "'Handlers of <b>glutton</b> have taken')")
    browser.until("document.querySelector('#verdict').textContent.includes('warning')")
    browser.until("document.querySelectorAll('#executors canvas').length >= 2")
    browser.until("document.querySelector('#choosers').innerText.includes('learner/int')")
    browser.until("document.querySelectorAll('#verdicts .stack div').length > 0")
    browser.until("document.querySelector('#types').innerText.includes('<b>glutton</b>')")
    browser.until("document.querySelector('#busiest').innerText.includes('<b>glutton</b>')")
    browser.until("document.querySelectorAll('#types tbody tr').length > 1")
    browser.until("/^(direct|conjugate_gradient|neumann|gmres|bicgstab)\\t/m.test("
                  "document.querySelector('#methods').innerText)")
    browser.until("!document.querySelector('#solving').innerText.includes('solves\\n0/s')")
    browser.until("/^failed\\n[1-9]/m.test(document.querySelector('#solving').innerText)")
    # Of the last second, in which a collection has stopped all threads for 30 ms.
    heap = browser.value(
        "(() => { const [last, kept] = [samples.at(-1), [...samples]];"
        " const next = structuredClone(last); next.time_ms += 1000;"
        " Object.assign("
        " next.stats.heap_pauses, { count: 9, sum_ns: 30e6, p50_ns: 2e6, p99_ns: 14e6 });"
        " next.stats.heap_longest_pause_ns = 15e6; samples.push(next); showHead(next);"
        " const text = document.querySelector('#others').innerText;"
        " samples.splice(0, Infinity, ...kept); render(); return text; })()"
    )
    for fact in ("pauses\n30ms/s", "a pause\n2 ms, 14 ms", "longest pause\n15ms"):
        assert heap.count(fact) == 1, heap
    # Background tasks have a line a level, in the order of levels, with the age of the oldest.
    browser.until("!/^normal\\t.*\\t0\\/s\\t/m.test("
                  "document.querySelector('#levels').innerText)")
    rows = browser.value(
        "(() => { const next = structuredClone(samples.at(-1));"
        " Object.assign(next.stats.background.levels[4],"
        " { queued_now: 1234, oldest_us: 90e6, running_now: 5, failed: 6, rejected: 7,"
        " timed_out: 8 });"
        " Object.assign(next.stats.background.levels[0], { queued_now: 0, oldest_us: 0 });"
        " showLevels(next); const text = document.querySelector('#levels tbody').innerText;"
        " render(); return text; })()").split("\n")
    assert [x.split("\t")[0] for x in rows] == [
        "interactive", "normal", "background_compile", "low", "batch"], rows
    assert rows[0].split("\t")[1:3] == ["0", "\u2013"], rows
    assert rows[4].split("\t")[1:4] == ["1.23 k", "90 s", "5"], rows
    assert rows[4].split("\t")[5:] == ["6", "15"], rows
    # A warning leads to what the page has on it, and stays the same element.
    browser.until("document.querySelector('#warnings').innerText.includes('glutton')")
    browser.value("globalThis.shown = [...document.querySelectorAll('#warnings li')]"
                  ".find((x) => x.innerText.includes('glutton')).querySelector('button');"
                  "shown.focus()")
    browser.call("Runtime.evaluate", expression="globalThis.before = samples.at(-1).tick")
    browser.until("samples.at(-1).tick > globalThis.before + 3")
    assert browser.value(
        "(() => { const next = structuredClone(samples.at(-1));"
        " const other = { kind: 'long_wait', subject: 'test', cause: '', remedy: '', since_ms: 0 };"
        " const seen = [];"
        " for (const change of [(x) => x.unshift(other), (x) => x.push({ ...other, subject: '' }),"
        " (x) => x.shift(), (x) => x.pop()]) { change(next.stats.warnings); showWarnings(next);"
        " seen.push($('warnings').children.length === next.stats.warnings.length"
        " && document.activeElement === shown); }"
        " return seen.every(Boolean); })()")
    assert browser.value("document.activeElement === shown")
    browser.value("scrollTo(0, 0); shown.click()")
    found = "document.querySelector('#overruns tr.found')"
    assert browser.value(found + ".cells[0].textContent") == "<b>glutton</b>"
    browser.until("(() => { const at = document.querySelector('#overruns')"
                  ".getBoundingClientRect(); return at.top < innerHeight && at.bottom > 0; })()")
    browser.value("scrollTo(0, 0)")
    # Each kind of warning has a place on the page.
    assert browser.value("Object.values(placesOfWarnings).every((x) => $(x) !== null)")
    # An executor says what it runs now, on a click.
    detail = "document.querySelector('#executors .detail')"
    assert browser.value(detail + ".hidden")
    browser.value("document.querySelector('#executors button').click()")
    assert not browser.value(detail + ".hidden")
    browser.until(f"/^Runs .+; \\d+ pieces of work wait/.test({detail}.textContent)")
    said = browser.value(
        "(() => { const next = structuredClone(samples.at(-1));"
        " next.stats.message_work[0] = '<b>x</b> <- i32';"
        " next.stats.message_executors[0].waiting_now = 7;"
        " showDetail(pools[0], pools[0].rows[0], next, 0);"
        f" return {detail}.textContent; }})()")
    assert said.startswith("Runs <b>x</b> <- i32; 7 pieces of work wait in its queue."), said
    browser.value("document.querySelector('#executors button').click()")
    assert browser.value(detail + ".hidden")
    # Where there is no solver there is no section of one.
    assert browser.value(
        "(() => { const x = structuredClone(samples.at(-1));"
        " x.stats.solver = { solvers: 0, methods: [], failures: [] }; showSolver(x);"
        " const hidden = document.querySelector('#solver').hidden; render();"
        " return hidden && !document.querySelector('#solver').hidden; })()")
    # Only what is asked for.
    browser.value("document.querySelector('#filter').value = 'GLUTTON';"
                  "document.querySelector('#filter').dispatchEvent(new Event('input'))")
    assert browser.value("document.querySelectorAll('#types tbody tr').length") == 1
    browser.value("document.querySelector('#filter').value = '';"
                  "document.querySelector('#filter').dispatchEvent(new Event('input'))")
    # A question is answered, and question and answer are text.
    browser.until("!document.querySelector('#box').hidden")
    assert browser.value("document.querySelector('#h-ask').textContent") == "Say <i>something</i>"
    browser.value("document.querySelector('#question').value = '<b>a&b+c=\u00e9%</b>';"
                  "document.querySelector('#question').focus()")
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", text="\r",
                     windowsVirtualKeyCode=13)
    browser.until("document.querySelector('#answer').textContent"
                  " === 'You said <u><b>a&b+c=\u00e9%</b></u>\\n'")
    assert browser.value("document.querySelectorAll('main b:not(#warnings b), u').length") == 0
    # It goes on.
    browser.call("Runtime.evaluate", expression="globalThis.before = samples.at(-1).tick")
    browser.until("samples.at(-1).tick > globalThis.before + 3")
    # Each number says on hover what it counts.
    assert browser.value("[...document.querySelectorAll('dl div, td, th button, .number')]"
                         ".every((x) => x.title !== '')")
    # By keyboard: a column's name is a button that sorts.
    browser.value("document.querySelector('#functions th button').focus()")
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", text="\r",
                     windowsVirtualKeyCode=13)
    assert browser.value("document.querySelector('#functions th').getAttribute('aria-sort')")
    for scheme in ("light", "dark"):
        browser.call("Emulation.setEmulatedMedia",
                     features=[{"name": "prefers-color-scheme", "value": scheme}])
        browser.call("Runtime.evaluate", expression="globalThis.before = samples.at(-1).tick")
        browser.until("samples.at(-1).tick > globalThis.before + 8")
        browser.screenshot(os.path.join(screenshots, f"page-{scheme}.png"))
        # On a telephone it scrolls in one direction; its tables by themselves.
        browser.call("Emulation.setDeviceMetricsOverride", width=390, height=844,
                     deviceScaleFactor=1, mobile=False)
        browser.until("innerWidth === 390 && document.documentElement.scrollWidth <= 390")
        browser.screenshot(os.path.join(screenshots, f"page-narrow-{scheme}.png"))
        browser.call("Emulation.clearDeviceMetricsOverride")
    complaints = list(browser.problems())
    assert not complaints, complaints
    foreign = [x for x in browser.requested() if not x.startswith((origin + "/", "data:"))]
    assert not foreign, foreign
    # Paused, nothing comes.
    browser.value("document.querySelector('#pause').click()")
    browser.until("document.querySelector('#live').textContent === 'paused'")
    browser.value("document.querySelector('#pause').click()")
    browser.until("document.querySelector('#live').textContent === 'live'")
    # Another server at the same address: the page finds it.
    program.stdin.write("restart\n")
    program.stdin.flush()
    assert program.stdout.readline().strip() == url
    browser.until("samples.length > 3 && samples.at(-1).tick < 1000"
                  " && document.querySelector('#live').textContent === 'live'"
                  " && samples[0].tick <= 2")


def main():
    program_path, screenshots = sys.argv[1:]
    executable = os.environ.get("BASAL_CHROMIUM") or shutil.which("chromium")
    if not executable:
        print("no chromium here: skipped")
        sys.exit(77)
    os.makedirs(screenshots, exist_ok=True)
    program = subprocess.Popen([program_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True)
    url = program.stdout.readline().strip()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(executable, profile)
        try:
            look(browser, program, url, screenshots)
        finally:
            browser.close()
            program.stdin.close()
            status = program.wait()
    assert status == 0, status


if __name__ == "__main__":
    main()
