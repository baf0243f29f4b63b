"""Messages to this chat or another one."""

from chipclaw.agent.tools.base import Tool, schema, text
from chipclaw.bus.events import OutboundMessage


class MessageTool(Tool):
    name = "message"
    description = "Send a message now: to this chat, or to another channel (mqtt, uart) and chat."
    parameters = schema(
        ["content"],
        content=text("The text"),
        channel=text("mqtt or uart; this chat's by default"),
        chat_id=text("The chat there; this chat by default"),
    )

    def __init__(self, bus):
        self.bus = bus
        self.channel = None
        self.chat_id = None

    def set_context(self, channel, chat_id):
        self.channel = channel
        self.chat_id = chat_id

    def execute(self, content, channel=None, chat_id=None):
        channel = channel or self.channel
        chat_id = chat_id or self.chat_id
        if channel not in self.bus.subscribers:
            there = ", ".join(sorted(self.bus.subscribers)) or "none"
            return "Error: there is no channel %s. There is: %s" % (channel, there)
        self.bus.outbound.put_nowait(OutboundMessage(channel, chat_id, content))
        return "Sent to %s:%s" % (channel, chat_id)
