"""MQTT: JSON in on one topic, JSON out on another."""

import json

from chipclaw.bus.events import InboundMessage
from chipclaw.channels.base import BaseChannel, as_text, write_message
from chipclaw.host import new_link
from chipclaw.utils import asyncio, decode, log, ticks_diff, ticks_ms

try:
    # Not umqtt.robust: it waits for the broker in a loop of its own, and the serial line with it.
    from umqtt.simple import MQTTClient, MQTTException
except ImportError:
    MQTTClient = None
    MQTTException = OSError

POLL_S = 0.1
FIRST_PAUSE_S = 1
LONGEST_PAUSE_S = 60
# Messages out that wait for the broker.
MOST_WAITING = 20
SOCKET_TIMEOUT_S = 10
REFUSALS = {1: "its protocol", 2: "the client_id", 4: "the password", 5: "the user"}


class PatientSocket:
    """A socket that waits no longer than its timeout where umqtt would wait without end for half a message."""

    def __init__(self, sock):
        self._sock = sock

    def setblocking(self, is_blocking):
        if hasattr(self._sock, "settimeout"):
            self._sock.settimeout(SOCKET_TIMEOUT_S if is_blocking else 0)
        else:  # A socket of TLS has the timeout of the one below.
            self._sock.setblocking(is_blocking)

    def read(self, count):
        data = self._sock.read(count)
        # Less than asked for is the end of the connection.
        if data is not None and len(data) < count:
            raise OSError("the connection was cut")
        return data

    def write(self, *parts):
        return self._sock.write(*parts)

    def close(self):
        self._sock.close()


class MQTTChannel(BaseChannel):
    name = "mqtt"

    def __init__(self, bus, config):
        super().__init__(bus, config)
        self.client = None
        self.is_connected = False
        self._is_running = False
        self._waiting = []

    async def start(self):
        if MQTTClient is None:
            log("This Python has no umqtt.simple: no MQTT. `mpremote mip install umqtt.simple` brings it.")
            return
        if not self.config.get("broker"):
            log("MQTT has no broker. Write channels.mqtt.broker to /config.json.")
            return
        if not self.config.get("allow_from"):
            log(
                "Nobody may write by MQTT yet. Write channels.mqtt.allow_from to /config.json, "
                'such as ["me"]; ["*"] lets everybody in.'
            )
            return
        self._is_running = True
        pause = FIRST_PAUSE_S
        while self._is_running:
            try:
                self._connect()
                pause = FIRST_PAUSE_S
                await self._poll()
            except (OSError, AssertionError, IndexError, TypeError) as error:
                # umqtt asserts, and indexes into what it has read, where a broker ends the connection.
                log("MQTT is down, next attempt in", pause, "s.", error)
            except MQTTException as error:
                log("The broker refuses", REFUSALS.get(error.args[0], "the connection"), "(%s)." % error)
            self._close()
            if self._is_running:
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE_S)

    async def stop(self):
        self._is_running = False

    async def send(self, msg):
        """Publish, at least once. Without a broker the message waits, and the oldest of too many is dropped."""
        self._put(write_message(msg))

    async def send_frame(self, frame):
        """Publish a frame of this connection. It waits for no other one."""
        if self.is_connected:
            self._put(json.dumps(frame))

    def _put(self, payload):
        self._waiting.append(payload)
        if len(self._waiting) > MOST_WAITING:
            self._waiting.pop(0)
            log("A message by MQTT is dropped: too many wait for the broker.")
        if not self.is_connected:
            return
        try:
            self._flush()
        except (OSError, AssertionError, IndexError, TypeError) as error:
            self.is_connected = False
            log("MQTT is down; the message waits.", error)

    def _connect(self):
        config = self.config
        client = MQTTClient(
            config["client_id"],
            config["broker"],
            port=config["port"],
            user=config.get("username"),
            password=config.get("password") or "",
            keepalive=config["keepalive_s"],
            ssl=_tls() if config.get("ssl") else None,
        )
        client.set_callback(self._on_message)
        self.client = client
        if self.host is not None:
            self.link = new_link()
            # What waits is of an earlier connection, where it is a frame.
            self._waiting = [text for text in self._waiting if '"frame"' not in text]
            bye = json.dumps(self.host.frame("bye", self.link))
            client.set_last_will(config["topic_out"], bye, qos=1)
        # False: the broker keeps what comes while the board is off.
        try:
            client.connect(False, SOCKET_TIMEOUT_S)
        except TypeError:  # An older umqtt takes no timeout.
            client.connect(False)
        client.sock = PatientSocket(client.sock)
        client.subscribe(config["topic_in"], qos=1)
        self.is_connected = True
        log("MQTT is connected to", config["broker"])
        if self.host is not None:
            self._waiting.append(json.dumps(self.host.hello(self.link)))

    async def _poll(self):
        keepalive_ms = self.config["keepalive_s"] * 500
        pinged = ticks_ms()
        self._flush()
        while self._is_running and self.is_connected:
            while not self.bus.is_full() and self.client.check_msg() is not None:
                pass
            if ticks_diff(ticks_ms(), pinged) > keepalive_ms:
                self.client.ping()
                pinged = ticks_ms()
            await asyncio.sleep(POLL_S)

    def _flush(self):
        while self._waiting:
            self.client.publish(self.config["topic_out"], self._waiting[0].encode(), qos=1)
            self._waiting.pop(0)

    def _close(self):
        self.is_connected = False
        if self.client is None:
            return
        try:
            self.client.disconnect()
        except (OSError, AttributeError):
            pass  # It was down.
        self.client = None

    def _on_message(self, topic, payload):
        try:
            data = json.loads(payload)
            if self.take_frame(data):
                return
            content = data["content"]
            if not isinstance(content, str):
                raise ValueError
        except (ValueError, KeyError, TypeError):
            log('A message on', decode(topic), 'is ignored: it is no JSON with "content".')
            return
        sender_id = as_text(data.get("sender_id", "unknown"))
        if not self.is_allowed(sender_id):
            return self.refuse(sender_id)
        chat_id = as_text(data.get("chat_id", decode(topic)))
        self.bus.inbound.put_nowait(InboundMessage(self.name, sender_id, chat_id, content))


def _tls():
    try:
        import tls
    except ImportError:
        return True  # An older umqtt then uses the TLS of its own time.
    context = tls.SSLContext(tls.PROTOCOL_TLS_CLIENT)
    context.verify_mode = tls.CERT_NONE
    return context
