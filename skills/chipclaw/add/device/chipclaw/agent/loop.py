"""The agent: a message in, rounds of model and tools, an answer out."""

import gc
import json

from chipclaw.bus.events import OutboundMessage
from chipclaw.providers.base import ProviderError
from chipclaw.utils import asyncio, log, ticks_diff, ticks_ms

# A message longer than this would not fit into RAM beside the prompt.
MOST_CHARS = 16000
# So many turns of one chat in ten minutes; more are two agents that answer each other.
MOST_IN_WINDOW = 30
WINDOW_MS = 600000
MOST_CHATS = 8


class AgentLoop:
    def __init__(self, bus, provider, sessions, context, tools, config):
        self.bus = bus
        self.provider = provider
        self.sessions = sessions
        self.context = context
        self.tools = tools
        self.config = config
        self._times = {}

    async def run(self):
        """Answer one message after the other. What goes wrong with one is its answer, and the next one follows."""
        while True:
            msg = await self.bus.consume_inbound()
            await self._handle_message(msg)
            msg = None
            gc.collect()

    def _is_loop(self, key):
        """Tell whether a chat asks faster than people do: two agents would answer each other without end."""
        now = ticks_ms()
        recent = [at for at in self._times.get(key, ()) if ticks_diff(now, at) < WINDOW_MS]
        if key not in self._times and len(self._times) >= MOST_CHATS:
            self._times.clear()
        is_loop = len(recent) >= MOST_IN_WINDOW
        self._times[key] = recent if is_loop else recent + [now]
        return is_loop

    async def _handle_message(self, msg):
        if self._is_loop(msg.session_key):
            return log("A message in", msg.session_key, "is ignored: %d in ten minutes are the most." % MOST_IN_WINDOW)
        try:
            answer = await self._answer(msg)
        except ProviderError as error:
            answer = str(error)
        except MemoryError:
            gc.collect()
            answer = "Error: the board's memory was not enough for this. Ask for less at once."
        except Exception as error:
            log("A message was not answered.", error)
            answer = "Error: %s" % error
        await self.bus.publish_outbound(OutboundMessage(msg.channel, msg.chat_id, answer, msg))

    async def _answer(self, msg):
        if len(msg.content) > MOST_CHARS:
            return "That message is too long for this board: %d letters are the most." % MOST_CHARS
        session = self.sessions.get_or_create(msg.session_key)
        self.tools.set_context(msg.channel, msg.chat_id)
        messages = self.context.build_messages(
            session.get_history(), msg.content, msg.channel, msg.chat_id
        )
        answer = await self._rounds(messages)
        session.add_message("user", msg.content)
        session.add_message("assistant", answer)
        try:
            self.sessions.save(session)
        except OSError as error:
            log("The conversation was not saved. Is the flash full?", error)
        return answer

    async def _rounds(self, messages):
        most = self.config.get("agent", "max_iterations")
        for _ in range(most):
            # The model and the tools stop everything else, so the channels have their turn between the rounds.
            await asyncio.sleep(0.01)
            gc.collect()
            response = await self.provider.chat(
                messages,
                tools=self.tools.get_definitions(),
                model=self.config.get("agent", "model"),
                max_tokens=self.config.get("agent", "max_tokens"),
                temperature=self.config.get("agent", "temperature"),
            )
            if not response.has_tool_calls:
                return _text(response)
            self._call(messages, response)
        return "I stopped after %d rounds of tools without an answer. Ask again to go on." % most

    def _call(self, messages, response):
        self.context.add_assistant_message(
            messages, response.content, [_wire(call) for call in response.tool_calls]
        )
        for call in response.tool_calls:
            if call.arguments is None:
                result = "Error: the arguments are no JSON object"
            else:
                result = self.tools.execute(call.name, call.arguments)
            self.context.add_tool_result(messages, call.id, result)
            gc.collect()


def _text(response):
    text = response.content or "I have nothing to say."
    if response.finish_reason == "length":
        return text + "\n(The answer was cut: it reached agent.max_tokens.)"
    return text


def _wire(call):
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": json.dumps(call.arguments or {})},
    }
