"""The two kinds of messages."""


class InboundMessage:
    """A message from a channel for the agent."""

    def __init__(self, channel, sender_id, chat_id, content, media=None, metadata=None):
        self.channel = channel
        self.sender_id = sender_id
        self.chat_id = chat_id
        self.content = content
        self.media = media
        self.metadata = metadata

    @property
    def session_key(self):
        return self.channel + ":" + self.chat_id


class OutboundMessage:
    """A message from the agent for a channel."""

    def __init__(self, channel, chat_id, content, reply_to=None, media=None, metadata=None):
        self.channel = channel
        self.chat_id = chat_id
        self.content = content
        self.reply_to = reply_to
        self.media = media
        self.metadata = metadata
