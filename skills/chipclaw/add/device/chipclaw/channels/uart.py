"""The serial line: a message a line, JSON or plain text."""

import json

from chipclaw.bus.events import InboundMessage
from chipclaw.channels.base import BaseChannel, as_text, write_message
from chipclaw.host import new_link
from chipclaw.utils import asyncio, log

POLL_S = 0.1
# Lets the line take what it was given.
WRITE_S = 0.01
CHAT = "uart_default"
SENDER = "uart_user"
MOST_BYTES = 8 * 1024


class UARTChannel(BaseChannel):
    name = "uart"

    def __init__(self, bus, config):
        super().__init__(bus, config)
        self.uart = None
        self._buffer = b""
        self._is_dropping = False
        self._is_running = False
        self._writing = asyncio.Lock()

    async def start(self):
        try:
            from machine import UART
        except ImportError:
            log("This Python has no module machine: no serial line.")
            return
        self.uart = UART(
            self.config["uart_id"],
            baudrate=self.config["baudrate"],
            tx=self.config["tx_pin"],
            rx=self.config["rx_pin"],
        )
        log("The serial line is open at", self.config["baudrate"], "baud.")
        self.link = new_link()
        if self.host is not None:
            await self.send_frame(self.host.hello(self.link))
        self._is_running = True
        while self._is_running:
            if not self.bus.is_full() and self.uart.any():
                self._take(self.uart.read() or b"")
            await asyncio.sleep(POLL_S)

    async def stop(self):
        self._is_running = False

    async def send(self, msg):
        if self.uart is None:
            return log("A message for the serial line is dropped: it is not open.")
        await self._write(write_message(msg))

    async def send_frame(self, frame):
        if self.uart is not None:
            await self._write(json.dumps(frame))

    async def _write(self, line):
        """Write a line as a whole: no other one begins in the middle of it."""
        async with self._writing:
            await self._write_bytes(line.encode() + b"\n")

    async def _write_bytes(self, line):
        data = memoryview(line)
        while data:
            written = self.uart.write(data) or 0
            data = data[written:]
            if data:
                await asyncio.sleep(WRITE_S)

    def _take(self, chunk):
        self._buffer += chunk
        while b"\n" in self._buffer:
            line, self._buffer = self._buffer.split(b"\n", 1)
            if self._is_dropping or len(line) > MOST_BYTES:
                self._is_dropping = False
                log("A line of more than %d bytes is ignored." % MOST_BYTES)
            else:
                self._handle_line(line)
        if len(self._buffer) > MOST_BYTES:
            self._buffer = b""
            self._is_dropping = True

    def _handle_line(self, line):
        try:
            text = str(line, "utf-8").strip()
        except UnicodeError:
            return log("A line is ignored: it is no UTF-8. Perhaps the speed is another.")
        if not text:
            return
        data = _json(text)
        if self.take_frame(data):
            return
        content, sender_id = _read(text, data)
        if not content.strip():
            return
        if not self.is_allowed(sender_id):
            return self.refuse(sender_id)
        self.bus.inbound.put_nowait(InboundMessage(self.name, sender_id, CHAT, content))


def _json(text):
    try:
        return json.loads(text)
    except ValueError:
        return None  # Plain text, then.


def _read(text, data):
    """Return (content, sender_id) of a line: of its JSON, or the line itself."""
    if isinstance(data, dict) and isinstance(data.get("content"), str):
        return data["content"], as_text(data.get("sender_id", SENDER))
    return text, SENDER
