"""The assistant on the other end: it is told the tools, calls them, and sends and fetches files."""

import binascii
import gc
import os
import time

from chipclaw import __version__
from chipclaw.files import Files
from chipclaw.utils import asyncio, free_memory, log, ticks_diff, ticks_ms

try:
    import machine
except ImportError:
    machine = None

ALIVE_S = 30
# A broker may hand a call over twice.
KEPT_IDS = 16
MOST_WAITING = 8


def new_link():
    """Return a name for this connection. A call that names another one is of an earlier time, and does not run."""
    try:
        return binascii.hexlify(os.urandom(4)).decode()
    except AttributeError:  # Not a board.
        return "%x" % time.time_ns()


class Host:
    """Works for the channels whose setting `host` is true. Each has `link` and `send_frame`."""

    def __init__(self, tools):
        self.tools = tools
        self.files = Files()
        self.channels = []
        self._queue = []
        self._ids = []
        self._filled = asyncio.Event()

    def add(self, channel):
        self.channels.append(channel)

    def hello(self, link):
        tools = []
        for tool in self.tools.tools.values():
            tools.append(
                {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            )
        return {
            "frame": "hello",
            "link": link,
            "version": __version__,
            "free": free_memory(),
            "tools": tools,
        }

    def frame(self, kind, link):
        return {"frame": kind, "link": link}

    def take(self, channel, data):
        """Take a frame, to be worked on once the channel has read it. Frames of other devices are nothing to us."""
        kind = data["frame"]
        if kind == "who" or kind == "call":
            if len(self._queue) >= MOST_WAITING:
                return log("A call of the assistant is dropped: too many wait.")
            self._queue.append((channel, data))
            self._filled.set()

    async def run(self):
        """Answer one frame after the other, and say now and then that the board is there."""
        said = ticks_ms()
        while True:
            try:
                await asyncio.wait_for(self._filled.wait(), ALIVE_S)
            except asyncio.TimeoutError:
                pass
            self._filled.clear()
            while self._queue:
                channel, data = self._queue.pop(0)
                await self._answer(channel, data)
                gc.collect()
            if ticks_diff(ticks_ms(), said) >= ALIVE_S * 900:
                said = ticks_ms()
                for channel in self.channels:
                    await self._send(channel, self.frame("alive", channel.link))

    async def _answer(self, channel, data):
        if data["frame"] == "who":
            return await self._send(channel, self.hello(channel.link))
        id = data.get("id")
        if data.get("link") != channel.link:
            return log("A call of an earlier connection is ignored.")
        if not isinstance(id, str) or id in self._ids:
            return
        self._ids = self._ids[1 - KEPT_IDS :] + [id]
        ok, value = self._call(data.get("tool"), data.get("args"))
        answer = self.frame("result", channel.link)
        answer["id"] = id
        answer["ok"] = ok
        answer["value"] = value
        await self._send(channel, answer)
        if ok and data.get("tool") == "_reset":
            await asyncio.sleep(0.5)
            machine.reset()

    def _call(self, name, args):
        """Return (ok, value). It never raises: a board that ends here answers nobody any more."""
        if not isinstance(name, str) or not isinstance(args, dict):
            return False, "tool or args are missing"
        try:
            if name == "_reset":
                return (False, "there is no module machine") if machine is None else (True, "")
            if name.startswith("_"):
                if name not in ("_begin", "_chunk", "_end", "_stage", "_swap", "_stat", "_read"):
                    return False, "no such call: " + name
                return True, getattr(self.files, name[1:])(**args)
            result = self.tools.execute(name, args)
        except MemoryError:
            gc.collect()
            return False, "the board's memory was not enough"
        except Exception as error:
            return False, str(error) or type(error).__name__
        if result.startswith("Error: "):
            return False, result[7:]
        return True, result

    async def _send(self, channel, frame):
        try:
            await channel.send_frame(frame)
        except Exception as error:
            log("An answer to the assistant was not sent.", error)
