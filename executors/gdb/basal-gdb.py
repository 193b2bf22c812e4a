"""gdb commands that show executors, and fibers that wait, in a stopped process or a core:

    info basal executors     each executor, its thread and what it runs
    info basal fibers        each suspended fiber, what it runs and for how long it has waited
    info basal computations  each computation of posse: who stole from whom, and where that is
    basal fiber N bt         its backtrace; `basal fiber all bt`: of all

They read memory and call nothing. The times are from the flight recording: up to the latest record
of any executor, and at least so long where the beginning is overwritten.
"""

import re
import struct

import gdb
from gdb.unwinder import Unwinder

NAMESPACE = "basal::executors::"


def type_of(name):
    try:
        return gdb.lookup_type(NAMESPACE + name)
    except gdb.error:
        raise gdb.GdbError(
            "basal: the program has no debug information of basal; link basal, and compile it "
            "with -g"
        )


def as_type(value, kind):
    """`value` as another type: atomics and smart pointers begin with what they hold."""
    return value.address.cast(kind.pointer()).dereference()


def word(value):
    return int(as_type(value, gdb.lookup_type("unsigned long")))


def text(pointer):
    return pointer.string("utf-8", "replace") if int(pointer) != 0 else None


def elements(vector):
    at, end = vector["_M_impl"]["_M_start"], vector["_M_impl"]["_M_finish"]
    while at != end:
        yield at.dereference()
        at += 1


def static(name, kind):
    """A static variable within a function: gdb knows such a one by address, not always by type."""
    try:
        address = int(gdb.parse_and_eval("(unsigned long)&'%s%s'" % (NAMESPACE, name)))
    except gdb.error:
        return None
    return gdb.Value(address).cast(kind.pointer()).dereference()


def executors():
    """Each executor of each pool, and its name."""
    registry = type_of("(anonymous namespace)::registry")
    pools = static("(anonymous namespace)::all()::result", registry.pointer())
    if pools is None or int(pools) == 0:
        return
    pointer = type_of("executor").pointer()
    for pool in elements(pools["pools"]):
        name = text(pool["config_"]["name"]["_M_dataplus"]["_M_p"])
        for index, owner in enumerate(elements(pool["executors_"])):
            yield as_type(owner, pointer).dereference(), "%s%d" % (name, index)


def label(fiber):
    """Its work: the name, or the kind, and the type of an object with virtual functions."""
    name = text(fiber["work_name_"])
    ops, item = fiber["work_"]["ops"], fiber["work_"]["object"]
    if int(ops) == 0:
        return name or "a task"
    result = name or text(ops["kind"])
    if int(ops["type_of"]) != 0 and int(item) != 0:
        table = item.cast(gdb.lookup_type("unsigned long").pointer()).dereference()
        symbol = gdb.execute("info symbol %d" % int(table), to_string=True)
        if symbol.startswith("vtable for "):
            symbol = symbol[len("vtable for ") :]
            result += ", " + symbol.rsplit(" + ", 1)[0].split(" in section")[0]
    return result


def listed(first, link):
    while int(first) != 0:
        yield int(first)
        first = first[link]


def suspended(executor):
    """Its fibers that are neither spare nor running, oldest first."""
    pointer = type_of("fiber").pointer()
    others = set(listed(executor["spares_"]["warm_"], "next_spare_"))
    others.update(listed(executor["spares_"]["cool_"], "next_spare_"))
    others.update((int(executor["running_"]), int(executor["paused_"])))
    all_of_them = list(listed(as_type(executor["fibers_"], pointer), "next_of_home_"))
    for address in reversed(all_of_them):
        if address not in others:
            yield gdb.Value(address).cast(pointer).dereference()


class Waits:
    """Since when fibers wait, from the flight recordings of their executors."""

    def __init__(self):
        self.kind = type_of("record_kind")["basal::executors::record_kind::suspends"].enumval
        self.rate = static("tick_clock::per_nanosecond()::result", gdb.lookup_type("double"))
        self.since = {}
        self.first = {}
        self.now = 0
        for executor, _ in executors():
            self.read(executor)

    def read(self, executor):
        flight = executor["flight_"]
        if int(flight) == 0:
            return
        ring = flight.dereference()["ring_"]
        first, end = int(ring["first_slot_"]), int(ring["end_slot_"])
        written = word(ring["written_"])
        capacity = (end - first) // 16
        mask = (1 << 48) - 1
        if written == 0:  # gdb 16 does not read nothing
            return
        memory = gdb.selected_inferior().read_memory(first, min(written, capacity) * 16)
        slots = list(struct.iter_unpack("<QQ", bytes(memory)))
        start = written % capacity if written > capacity else 0
        slots = slots[start:] + slots[:start]
        for when, what in slots:
            if when & 0xFF == self.kind:
                self.since[what >> 16 & mask] = when >> 8
        if slots:
            self.now = max(self.now, slots[-1][0] >> 8)
            self.first[int(executor.address)] = slots[0][0] >> 8

    def of(self, executor, fiber):
        if self.rate is None or not float(self.rate) > 0 or not self.first:
            return "for an unknown time"
        since = self.since.get(int(fiber.address))
        at_least = since is None
        if at_least:
            since = self.first.get(int(executor.address), self.now)
        milliseconds = (self.now - since) / float(self.rate) / 1e6
        return "for %s%.3f ms" % ("at least " if at_least else "", milliseconds)


def waiting():
    """All suspended fibers with their executors; the place in this list is a fiber's number."""
    return [(e, name, f) for e, name in executors() for f in suspended(e)]


class Member:
    """A member of a computation of posse, on a fiber."""

    def __init__(self, member, where, state):
        self.origin = int(member["origin_"])
        self.branch = int(member["as_"])
        self.victim = int(member["as_"]["victim"]) if self.branch else None
        function = member["origin_"]["function"]
        known = int(function) != 0
        characters = gdb.lookup_type("char").const().pointer()
        self.name = text(as_type(function["name"], characters)) if known else "a computation"
        self.where = where
        self.state = state
        self.outer = None
        self.below = []


def members_on(fiber, where, runs):
    """The members on a fiber, innermost first: what it is attached to is a list of frames."""
    kind = gdb.lookup_type("basal::posse::detail::charge_frame").pointer()
    frame = fiber["attachment_"].cast(kind)
    inner = None
    while int(frame) != 0:
        member = frame["running"]
        if int(member) != 0 and int(member["charge_"].address) == int(frame):
            state = "has called " + inner.name if inner else "runs" if runs else None
            if state is None:
                state = "waits for " + (text(fiber["waits_for_"]) or "an event")
            found = Member(member, where, state)
            if inner:
                inner.outer = found
            inner = found
            yield found
        frame = frame["outer"]


def members():
    """All members of all computations."""
    for executor, name in executors():
        doing = as_type(executor["doing_"], gdb.lookup_type("char").const().pointer())
        if int(executor["running_"]) != 0 and int(doing) != 0:
            yield from members_on(executor["running_"].dereference(), name, True)
        for fiber in suspended(executor):
            yield from members_on(fiber, name, False)


class FiberFrames(Unwinder):
    """While it has registers, the selected thread's innermost frame appears to be called from where
    the fiber was left. Nothing is written, so that a core will do."""

    # Boost.Context's jump_fcontext on x86-64, System V ABI: what it saved, from `context_` on.
    # Later versions of Boost (1.83 in Debian 13) have one word more before them.
    SAVED = ("r12", "r13", "r14", "r15", "rbx", "rbp", "rip")

    def __init__(self):
        super().__init__("basal fiber")
        self.registers = None
        self.innermost = None

    def __call__(self, frame):
        if self.registers is None:
            return None
        here = int(frame.read_register("rsp"))
        if self.innermost is None:
            self.innermost = here
        if here != self.innermost or int(frame.read_register("rip")) == self.registers["rip"]:
            return None
        # The identity has the fiber's stack, since gdb wants callers above whom they call.
        stack = gdb.Value(self.registers["rsp"]).cast(gdb.lookup_type("void").pointer())
        info = frame.create_unwind_info(FrameIdentity(stack, frame.read_register("rip")))
        for name, value in self.registers.items():
            info.add_saved_register(name, gdb.Value(value).cast(gdb.lookup_type("long")))
        return info

    def show(self, fiber):
        self.registers = self.saved(fiber)
        self.innermost = None
        gdb.invalidate_cached_frames()
        try:
            frame, number = gdb.newest_frame().older(), 0
            while frame is not None:
                print(described(frame, number))
                if (frame.name() or "").endswith("fiber::entry_point::enter"):
                    break  # where the stack begins
                frame, number = frame.older(), number + 1
        finally:
            self.registers = None
            gdb.invalidate_cached_frames()

    def first_saved(self):
        """The number of the word that SAVED begins with, by the first instruction of jump_fcontext,
        `lea -0x38(%rsp),%rsp` or -0x40; None where that is another one."""
        try:
            at = int(gdb.parse_and_eval("(unsigned long)&jump_fcontext"))
            code = bytes(gdb.selected_inferior().read_memory(at, 9))
        except (gdb.error, gdb.MemoryError):
            return None
        code = code[4:] if code.startswith(b"\xf3\x0f\x1e\xfa") else code  # endbr64
        if code.startswith(b"\x48\x8d\x64\x24\xc8"):
            return 1
        return 2 if code.startswith(b"\x48\x8d\x64\x24\xc0") else None

    def saved(self, fiber):
        context = int(fiber["context_"])
        memory = bytes(gdb.selected_inferior().read_memory(context, 9 * 8))
        words = struct.unpack("<9Q", memory)
        first = self.first_saved() or (1 if gdb.block_for_pc(words[7]) is not None else 2)
        result = dict(zip(self.SAVED, words[first : first + 7]))
        result["rsp"] = context + (first + 7) * 8
        return result


class FrameIdentity:
    """A stack pointer and a pc, by which gdb knows the innermost frame in the meantime."""

    def __init__(self, sp, pc):
        self.sp = sp
        self.pc = pc


def described(frame, number):
    place = frame.find_sal()
    where = " at %s:%d" % (place.symtab.filename, place.line) if place.symtab else ""
    return "#%-3d 0x%016x in %s ()%s" % (number, frame.pc(), frame.name() or "??", where)


FRAMES = FiberFrames()
gdb.unwinder.register_unwinder(None, FRAMES, replace=True)


def build_id_in(memory, first, count, size, bias):
    """The build id among program headers at `first`, or None; `memory(address, bytes)` reads."""
    for i in range(count):
        kind, _, _, address, _, _, length, _ = struct.unpack(
            "<IIQQQQQQ", memory(first + i * size, 56)
        )
        if kind != 4:  # PT_NOTE
            continue
        notes, at = memory(address + bias, length), 0
        while at + 12 <= length:
            name_bytes, text_bytes, note = struct.unpack_from("<III", notes, at)
            text_at = at + 12 + (name_bytes + 3 & ~3)
            if note == 3 and notes[at + 12 : at + 16] == b"GNU\0":
                return notes[text_at : text_at + text_bytes].hex()
            at = text_at + (text_bytes + 3 & ~3)
    return None


def build_id_of_process():
    """The build id of the program that the process, or the core, is of; None where that is not to
    be found: the kernel's auxiliary vector leads to the program's headers in memory."""
    try:
        vector = gdb.execute("info auxv", to_string=True)
        entries = dict(re.findall(r"(AT_PH\w+) .* (\w+)$", vector, re.MULTILINE))
        first, size, count = (int(entries["AT_PH" + x], 0) for x in ("DR", "ENT", "NUM"))
        inferior = gdb.selected_inferior()

        def memory(address, length):
            return bytes(inferior.read_memory(address, length))

        kind, _, _, address = struct.unpack("<IIQQ", memory(first, 24))
        bias = first - address if kind == 6 else 0  # PT_PHDR, which comes first
        return build_id_in(memory, first, count, size, bias)
    except (gdb.error, KeyError, ValueError, IndexError, struct.error):
        return None


def expect_same_build():
    """Ends the command with a sentence if the file that gdb has is not the process's program."""
    program = gdb.current_progspace().filename
    if program is None or gdb.selected_thread() is None:
        return
    objfile = next((o for o in gdb.objfiles() if o.filename == program), None)
    ours = getattr(objfile, "build_id", None)
    theirs = build_id_of_process()
    if ours and theirs and ours != theirs:
        raise gdb.GdbError(
            "basal: the core is of another build than %s (build id %s, not %s); give gdb the "
            "program that the core is of" % (program, theirs, ours)
        )


class BasalCommand(gdb.Command):
    """A command that says what is wrong where memory does not look like basal's."""

    def invoke(self, argument, from_tty):
        expect_same_build()
        try:
            self.run(argument)
        except (gdb.MemoryError, UnicodeDecodeError, OverflowError) as problem:
            raise gdb.GdbError(
                "basal: the program's memory is not as expected (%s); the core may be cut off, or "
                "of another build: give gdb the program and the whole core" % problem
            )


class Basal(gdb.Command):
    """Commands for basal's fibers: `basal fiber N bt`."""

    def __init__(self):
        super().__init__("basal", gdb.COMMAND_STACK, prefix=True)


class InfoBasal(gdb.Command):
    """Lists of basal: `info basal executors`, `info basal fibers`, `info basal computations`."""

    def __init__(self):
        super().__init__("info basal", gdb.COMMAND_STATUS, prefix=True)


class InfoExecutors(BasalCommand):
    """Each executor of basal, its thread and what it runs."""

    def __init__(self):
        super().__init__("info basal executors", gdb.COMMAND_STATUS)

    def run(self, argument):
        for executor, name in executors():
            flight = executor["flight_"]
            thread = word(flight["thread_"]) & 0xFFFFFFFF if int(flight) != 0 else 0
            doing = as_type(executor["doing_"], gdb.lookup_type("char").const().pointer())
            if int(executor["running_"]) == 0:
                print("%-16s has no thread yet" % name)
                continue
            runs = "looks for work, or sleeps"
            if int(doing) != 0:
                runs = "runs " + label(executor["running_"].dereference())
            print(
                "%-16s LWP %-8s %s; %d suspended fibers"
                % (name, thread or "?", runs, int(executor["suspended_"]))
            )


class InfoFibers(BasalCommand):
    """Each suspended fiber of basal, what it runs and for how long it has waited."""

    def __init__(self):
        super().__init__("info basal fibers", gdb.COMMAND_STATUS)

    def run(self, argument):
        waits = Waits()
        for number, (executor, name, fiber) in enumerate(waiting()):
            since = waits.of(executor, fiber)
            print("%-5d %-16s %s, waits %s" % (number, name, label(fiber), since))


class InfoComputations(BasalCommand):
    """Each computation of basal's posse: below each member those that have stolen from it."""

    def __init__(self):
        super().__init__("info basal computations", gdb.COMMAND_STATUS)

    def run(self, argument):
        type_of("executor")
        try:
            gdb.lookup_type("basal::posse::member")
        except gdb.error:
            print("basal: the program has no debug information of basal::posse, or does not use it")
            return
        found = list(members())
        branches = {m.branch: m for m in found if m.branch}
        roots = {m.origin: m for m in found if not m.branch}
        tops = []
        for m in found:
            victim = m.outer if not m.branch else branches.get(m.victim) or roots.get(m.origin)
            (victim.below if victim else tops).append(m)
        for m in tops:
            self.tell(m, 0)

    def tell(self, member, depth):
        who = "delegate" if depth and member.branch else member.name
        print("%s%s on %s: %s" % ("  " * depth, who, member.where, member.state))
        for below in member.below:
            self.tell(below, depth + 1)


class Fiber(BasalCommand):
    """basal fiber N bt: a suspended fiber's backtrace; N as in `info basal fibers`, or "all"."""

    def __init__(self):
        super().__init__("basal fiber", gdb.COMMAND_STACK)

    def run(self, argument):
        words = gdb.string_to_argv(argument)
        if len(words) != 2 or words[1] != "bt":
            raise gdb.GdbError("basal: usage: basal fiber N bt")
        found = waiting()
        if words[0] == "all":
            numbers = range(len(found))
        elif words[0].isdecimal() and int(words[0]) < len(found):
            numbers = [int(words[0])]
        else:
            raise gdb.GdbError(
                "basal: there is no suspended fiber %s; `info basal fibers` lists %d"
                % (words[0], len(found))
            )
        if gdb.selected_thread() is None:
            raise gdb.GdbError("basal: the program does not run; start it, or load a core file")
        if "x86-64" not in gdb.selected_inferior().architecture().name():
            raise gdb.GdbError("basal: backtraces of fibers are known on x86-64 only")
        for number in numbers:
            _, name, fiber = found[number]
            print("fiber %d on %s, %s:" % (number, name, label(fiber)))
            FRAMES.show(fiber)


for command in (Basal, InfoBasal, InfoExecutors, InfoFibers, InfoComputations, Fiber):
    command()
