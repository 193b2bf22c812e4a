"""A proxy between a client and nats-server that does to messages what a network may do.

NATS' protocol is made of lines and counted payloads, so that a message can be held back, repeated
and overtaken whole: a proxy of bytes could only delay. What is not a message (handshake, pings,
subscriptions) goes through in order.
"""
import asyncio
import random
import threading

TO_CLIENT, TO_SERVER = 0, 1
MESSAGES = {TO_CLIENT: (b"MSG", b"HMSG"), TO_SERVER: (b"PUB", b"HPUB")}


class Proxy:
    """Listens on `port` until close(). Members may be called from any thread.

    delay_s: each message is held back for up to that long, so those behind it overtake it.
    repeat:  share of the messages that arrive twice.
    only:    words of the messages that this is done to, their subjects among them; None: all.
    change:  called with each message, gives the one that goes on.
    """

    def __init__(self, server_port, seed, delay_s=0.0, repeat=0.0, only=None,
                 change=lambda frame: frame):
        self.server_port = server_port
        self.random = random.Random(seed)
        self.delay_s, self.repeat, self.only, self.change = delay_s, repeat, only, change
        self.delayed = self.repeated = 0
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.port = self.call(self.open())

    def call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(10)

    async def open(self):
        self.tasks, self.links = set(), set()
        self.flows = [asyncio.Event(), asyncio.Event()]
        for flow in self.flows:
            flow.set()
        self.listener = await asyncio.start_server(self.connected, "127.0.0.1", 0)
        return self.listener.sockets[0].getsockname()[1]

    def calm(self):
        """Lets everything through from now on."""
        async def change():
            self.delay_s = self.repeat = 0.0
        self.call(change())

    def cut(self, *directions):
        """Nothing arrives that way until mend(); the connections stay."""
        async def change():
            for d in directions:
                self.flows[d].clear()
        self.call(change())

    def mend(self):
        async def change():
            for flow in self.flows:
                flow.set()
        self.call(change())

    def close(self):
        async def end():
            self.listener.close()
            for t in self.tasks:
                t.cancel()
            await asyncio.gather(*self.links, return_exceptions=True)
        self.call(end())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    async def connected(self, reader, writer):
        self.links.add(asyncio.current_task())
        try:
            up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self.server_port)
        except OSError:  # the server is down, and so is its port
            writer.close()
            return
        pairs = ((up_reader, writer, TO_CLIENT), (reader, up_writer, TO_SERVER))
        tasks = [asyncio.ensure_future(self.pump(*p)) for p in pairs]
        self.tasks.update(tasks)
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for t in tasks:
            t.cancel()
        for w in (writer, up_writer):
            w.close()
        self.tasks.difference_update(tasks)
        self.links.discard(asyncio.current_task())

    async def pump(self, reader, writer, direction):
        try:
            while line := await reader.readline():
                words = line.split()
                is_message = bool(words) and words[0].upper() in MESSAGES[direction]
                frame = line
                if is_message:  # the last word of its line counts the bytes, but for the line's end
                    frame += await reader.readexactly(int(words[-1]) + 2)
                await self.flows[direction].wait()
                if is_message and self.may(words):
                    self.meddle(writer, self.change(frame))
                else:
                    writer.write(frame)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass

    def may(self, words):
        return self.only is None or any(self.only in w for w in words)

    def meddle(self, writer, frame):
        copies = 2 if self.random.random() < self.repeat else 1
        self.repeated += copies - 1
        for _ in range(copies):
            delay = self.random.uniform(0, self.delay_s)
            if delay == 0:
                writer.write(frame)
                continue
            self.delayed += 1
            self.loop.call_later(delay, self.late, writer, frame)

    @staticmethod
    def late(writer, frame):
        if not writer.is_closing():
            writer.write(frame)


class Cable(Proxy):
    """Carries bytes of any protocol, the one between servers for example, and can be cut."""

    def __init__(self, server_port):
        super().__init__(server_port, 0)

    async def pump(self, reader, writer, direction):
        try:
            while block := await reader.read(1 << 16):
                await self.flows[direction].wait()
                writer.write(block)
                await writer.drain()
        except OSError:
            pass
