"""The parts, put together."""

from chipclaw.agent.context import ContextBuilder
from chipclaw.agent.loop import AgentLoop
from chipclaw.agent.memory import MemoryStore
from chipclaw.agent.skills import SkillsManager
from chipclaw.agent.tools.exec_mpy import ExecMicroPythonTool
from chipclaw.agent.tools.filesystem import ListDirTool, ReadFileTool, WriteFileTool
from chipclaw.agent.tools.hardware import GPIOTool, I2CScanTool
from chipclaw.agent.tools.http_fetch import HTTPFetchTool
from chipclaw.agent.tools.message import MessageTool
from chipclaw.agent.tools.registry import ToolRegistry
from chipclaw.bus.events import OutboundMessage
from chipclaw.bus.queue import MessageBus
from chipclaw.channels.mqtt import MQTTChannel
from chipclaw.channels.uart import UARTChannel
from chipclaw.config import Config
from chipclaw.host import Host
from chipclaw.providers.http_provider import HTTPProvider
from chipclaw.session.manager import SessionManager
from chipclaw.utils import asyncio, log


class App:
    """The agent and its channels."""

    def __init__(self, config):
        self.config = config
        self.bus = MessageBus()
        self.tools = create_tools(config, self.bus)
        provider = HTTPProvider(
            config.get("provider", "api_key", default=""),
            config.get("provider", "api_base"),
            config.get("provider", "timeout_s"),
        )
        context = ContextBuilder(
            config.workspace, MemoryStore(config.workspace), SkillsManager(config.workspace)
        )
        sessions = SessionManager(config.data_dir)
        self.agent = AgentLoop(self.bus, provider, sessions, context, self.tools, config)
        self.host = Host(self.tools)
        self.channels = create_channels(config, self.bus, self.host)

    async def run(self):
        """Run until all is stopped. A channel that fails stops no other."""
        for channel in self.channels:
            self.bus.subscribe_outbound(channel.name, channel.send)
        await asyncio.gather(
            self.agent.run(),
            self.bus.dispatch_outbound(),
            self.host.run(),
            *[_guarded(channel) for channel in self.channels],
            self._tell_overrun()
        )

    async def _tell_overrun(self):
        """Tell the chat whose program made the board start anew: its message has no answer."""
        chat = self.tools.get("exec_micropython").take_overrun()
        if chat is not None:
            seconds = self.config.get("tools", "exec_timeout_s")
            text = "The program took longer than %s s, so I restarted. Let it end sooner, or set tools.exec_timeout_s."
            await self.bus.publish_outbound(OutboundMessage(chat[0], chat[1], text % seconds))


def create_tools(config, bus):
    allowed_dir = config.get("tools", "allowed_dir")
    tools = ToolRegistry()
    for tool in (
        ReadFileTool(allowed_dir),
        WriteFileTool(allowed_dir),
        ListDirTool(allowed_dir),
        GPIOTool(),
        I2CScanTool(),
        ExecMicroPythonTool(
            config.workspace, config.data_dir + "/overrun.json", config.get("tools", "exec_timeout_s")
        ),
        HTTPFetchTool(),
        MessageTool(bus),
    ):
        tools.register(tool)
    return tools


def create_channels(config, bus, host=None):
    channels = []
    if config.get("channels", "mqtt", "enabled"):
        channels.append(MQTTChannel(bus, config.get("channels", "mqtt")))
    if config.get("channels", "uart", "enabled"):
        channels.append(UARTChannel(bus, config.get("channels", "uart")))
    for channel in channels:
        if host is not None and channel.config.get("host"):
            channel.host = host
            host.add(channel)
    if not channels:
        log("No channel is on. Set channels.uart.enabled in /config.json.")
    return channels


async def _guarded(channel):
    try:
        await channel.start()
    except Exception as error:
        log("The channel", channel.name, "has stopped.", error)


def start():
    """Run on the board, until it is switched off."""
    asyncio.run(App(Config()).run())
