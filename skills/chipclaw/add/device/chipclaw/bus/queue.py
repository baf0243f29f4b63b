"""The bus: one queue in, one queue out."""

from chipclaw.utils import asyncio, log

# Channels read no further while so many messages wait: RAM is short.
MOST_WAITING = 20


class Queue:
    """A queue for tasks. MicroPython's asyncio has none of its own."""

    def __init__(self):
        self._items = []
        self._filled = asyncio.Event()

    def put_nowait(self, item):
        self._items.append(item)
        self._filled.set()

    async def put(self, item):
        self.put_nowait(item)

    async def get(self):
        while not self._items:
            self._filled.clear()
            await self._filled.wait()
        return self._items.pop(0)

    def qsize(self):
        return len(self._items)


class MessageBus:
    def __init__(self):
        self.inbound = Queue()
        self.outbound = Queue()
        self.subscribers = {}
        self._running = False

    async def publish_inbound(self, msg):
        await self.inbound.put(msg)

    async def consume_inbound(self):
        return await self.inbound.get()

    async def publish_outbound(self, msg):
        await self.outbound.put(msg)

    def is_full(self):
        return self.inbound.qsize() >= MOST_WAITING

    def subscribe_outbound(self, channel, callback):
        self.subscribers[channel] = callback

    async def dispatch_outbound(self):
        """Hand each message to its channel, until `stop`. One that fails stops no other."""
        self._running = True
        while self._running:
            msg = await self.outbound.get()
            if msg is None:
                continue
            callback = self.subscribers.get(msg.channel)
            if callback is None:
                log("A message for the channel", msg.channel, "is dropped: it is not there.")
                continue
            try:
                await callback(msg)
            except Exception as error:
                log("A message for the channel", msg.channel, "was not sent.", error)

    def stop(self):
        self._running = False
        self.outbound.put_nowait(None)
