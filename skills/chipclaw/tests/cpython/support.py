"""The modules of a board for CPython, a model's server, and a folder instead of the flash."""

import json
import os
import sys
import tempfile
import threading
import types
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# No files beside those of the skill.
sys.dont_write_bytecode = True
DEVICE = os.environ.get("CHIPCLAW_DEVICE") or os.path.join(os.path.dirname(__file__), "../../add/device")
sys.path.insert(0, os.path.abspath(DEVICE))


class Pin:
    IN, OUT = 0, 1
    levels = {}

    def __init__(self, id, mode=None):
        self.id = id

    def value(self, level=None):
        if level is None:
            return Pin.levels.get(self.id, 0)
        Pin.levels[self.id] = level


class ADC:
    def __init__(self, pin):
        self.pin = pin

    def read_u16(self):
        return Pin.levels[self.pin.id]


class PWM:
    waves = {}

    def __init__(self, pin):
        self.wave = PWM.waves.setdefault(pin.id, {})

    def freq(self, value):
        self.wave["freq"] = value

    def duty_u16(self, value):
        self.wave["duty"] = value

    def deinit(self):
        self.wave.clear()


class SoftI2C:
    def __init__(self, scl, sda):
        pass

    def scan(self):
        return [0x3C, 0x76]


class Timer:
    ONE_SHOT = 0
    running = []

    def __init__(self, id):
        self.id = id

    def init(self, mode, period, callback):
        self.period, self.callback = period, callback
        Timer.running.append(self)

    def deinit(self):
        Timer.running.remove(self)


class Line:
    """A serial line whose other end is the test: `heard` is what the board reads, `lines` what it writes."""

    def __init__(self):
        self.heard = b""
        self.lines = []
        self.on_line = None
        self._rest = b""

    def say(self, line):
        self.heard += line.encode() + b"\n"

    def write(self, data):
        self._rest += data
        while b"\n" in self._rest:
            line, self._rest = self._rest.split(b"\n", 1)
            self.lines.append(json.loads(line))
            if self.on_line is not None:
                self.on_line(self, self.lines[-1])


class UART:
    line = None

    def __init__(self, id, baudrate, tx, rx):
        pass

    def any(self):
        return len(UART.line.heard)

    def read(self):
        data, UART.line.heard = UART.line.heard, b""
        return data or None

    def write(self, data):
        # As a board with a small buffer: not all of it at once.
        part = bytes(data[:512])
        UART.line.write(part)
        return len(part)


class Reset(BaseException):
    """The board starts anew: nothing that runs goes on."""


def _reset():
    raise Reset


class MQTTClient:
    """A client whose broker is the test: it hands over `arriving`, and keeps what is published."""

    arriving = []
    published = []

    def __init__(self, client_id, server, **options):
        self.sock = types.SimpleNamespace(setblocking=lambda _: None)

    def set_callback(self, callback):
        self.callback = callback

    def set_last_will(self, topic, text, qos=0):
        pass

    def connect(self, clean, timeout=None):
        pass

    def subscribe(self, topic, qos=0):
        self.topic = topic

    def check_msg(self):
        if not MQTTClient.arriving:
            return None
        self.callback(self.topic.encode(), json.dumps(MQTTClient.arriving.pop(0)).encode())
        return b"\x30"

    def publish(self, topic, payload, qos=0):
        MQTTClient.published.append((topic, json.loads(payload)))

    def ping(self):
        pass

    def disconnect(self):
        pass


def _module(name, **members):
    module = types.ModuleType(name)
    module.__dict__.update(members)
    sys.modules[name] = module


_module("machine", Pin=Pin, ADC=ADC, PWM=PWM, SoftI2C=SoftI2C, Timer=Timer, UART=UART, reset=_reset)
_module("umqtt")
_module("umqtt.simple", MQTTClient=MQTTClient, MQTTException=type("MQTTException", (Exception,), {}))


def config(folder, **settings):
    """Return settings whose files are below a folder, with those of the test on top."""
    from chipclaw.config import Config

    path = os.path.join(folder, "config.json")
    over = {
        "agent": {"workspace": folder + "/workspace", "data_dir": folder + "/data"},
        "tools": {"allowed_dir": folder + "/workspace"},
    }
    for key, value in settings.items():
        over.setdefault(key, {}).update(value)
    with open(path, "w") as file:
        json.dump(over, file)
    return Config(path)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        UART.line = Line()
        Pin.levels.clear()
        PWM.waves.clear()
        del MQTTClient.arriving[:], MQTTClient.published[:]

    def write(self, path, text):
        whole = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, "w") as file:
            file.write(text)

    def serve(self, *answers):
        """Start a server that gives these answers, (status, headers, body), in turn. Return its address and requests."""
        waiting, requests = list(answers), []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                size = int(self.headers.get("Content-Length") or 0)
                requests.append((self.path, dict(self.headers), self.rfile.read(size)))
                status, headers, body = waiting.pop(0)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return "http://127.0.0.1:%d" % server.server_address[1], requests


def completion(content, tool_calls=None, finish_reason="stop"):
    """Return an answer of a model, for `serve`."""
    message = {"role": "assistant", "content": content}
    if tool_calls:
        message["tool_calls"] = [
            {"id": "c%d" % at, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for at, (name, arguments) in enumerate(tool_calls)
        ]
    choice = {"message": message, "finish_reason": finish_reason}
    return 200, {}, json.dumps({"choices": [choice], "usage": {"total_tokens": 7}}).encode()
