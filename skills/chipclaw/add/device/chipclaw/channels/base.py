"""A channel."""

import json

from chipclaw.utils import log


class BaseChannel:
    name = None

    def __init__(self, bus, config):
        self.bus = bus
        self.config = config
        # The assistant, where it may call the tools, and the name of the present connection to it.
        self.host = None
        self.link = None

    async def start(self):
        """Read what comes, until `stop`."""
        raise NotImplementedError

    async def stop(self):
        raise NotImplementedError

    async def send(self, msg):
        raise NotImplementedError

    async def send_frame(self, frame):
        raise NotImplementedError

    def take_frame(self, data):
        """Take what is no message but a frame of the assistant's; True where it was one."""
        if not isinstance(data, dict) or not isinstance(data.get("frame"), str) or "content" in data:
            return False
        if self.host is not None:
            self.host.take(self, data)
        elif data["frame"] == "call":
            log("A call of the assistant on", self.name, "is ignored: channels.%s.host is false." % self.name)
        return True

    def is_allowed(self, sender_id):
        allowed = self.config.get("allow_from") or []
        return "*" in allowed or sender_id in allowed

    def refuse(self, sender_id):
        log("A message of", sender_id, "on", self.name, "is ignored: channels.%s.allow_from lacks it." % self.name)


def as_text(value):
    """Return an id as text: JSON may bring a number."""
    return value if isinstance(value, str) else str(value)


def write_message(msg):
    return json.dumps({"content": msg.content, "chat_id": msg.chat_id})
