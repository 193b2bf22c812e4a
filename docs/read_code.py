"""Reads what the reference tells of the sources; see from_code.py. What it cannot read, or what
has no text, is a ValueError."""
import re

LITERALS = r'"(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*'  # one string, perhaps in several pieces


def joined(literals):
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)).replace('\\"', '"')


def enumerators(text, name):
    """[(enumerator, comment)] of `enum class name`; a comment may go on in the next lines."""
    body = re.search(rf"enum class {name}\b[^{{;]*\{{(.*?)\n\}};", text, re.DOTALL)
    if not body:
        raise ValueError(f"no enum class {name}")
    found = []
    for line in body.group(1).split("\n"):
        begun = re.match(r"\s*(\w+)(?:\s*=\s*\w+)?,?\s*(?:///<\s*(.*))?$", line)
        goes_on = re.match(r"\s*///<\s*(.*)$", line)
        if goes_on and found:
            found[-1] = (found[-1][0], f"{found[-1][1]} {goes_on.group(1)}")
        elif begun:
            found.append((begun.group(1), begun.group(2) or ""))
        elif line.strip() and not line.strip().startswith("//"):
            raise ValueError(f"enum class {name}: cannot read '{line.strip()}'")
    for enumerator, comment in found:
        if not comment:
            raise ValueError(f"enum class {name}: {enumerator} has no comment")
    return found


def warnings(text):
    """[(name, meaning, remedy)], one for each enumerator of warning_kind."""
    found = [tuple(joined(part) for part in match) for match in re.findall(
        rf"return \{{({LITERALS}),\s*({LITERALS}),\s*({LITERALS}),", text)]
    kinds = re.search(r"enum class warning_kind[^{]*\{(.*?)\};", text, re.DOTALL).group(1)
    if [name for name, _, _ in found] != re.findall(r"\w+", kinds):
        raise ValueError("the warnings that were read are not the kinds that there are")
    return found


def metrics(text):
    """[(name, kind, help)] in the order in which a scrape has them."""
    kinds = {"gauge": "gauge", "histogram": "histogram", "write(out,": "histogram"}
    found = [(joined(name), kinds.get(how, "counter"), joined(text))
             for how, name, text in re.findall(
                 r"\b(?:out\.)?(counter|gauge|histogram|of_pools|write\(out,)[\s(]*"
                 rf"({LITERALS}),\s*({LITERALS})", text)]
    named = re.findall(r'"((?:basal|process)_\w+)"', text)
    if sorted(named) != sorted(name for name, _, _ in found):
        raise ValueError("the metrics that were read are not those that are named")
    return found
