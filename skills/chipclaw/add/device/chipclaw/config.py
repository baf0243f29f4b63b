"""Settings of the board: /config.json over the defaults."""

import json

from chipclaw.utils import log


def _defaults():
    return {
        "wifi": {"ssid": "", "password": "", "timeout_s": 30},
        "ntp": {"host": "pool.ntp.org"},
        "provider": {
            "api_base": "https://api.openai.com/v1",
            "api_key": "",
            "timeout_s": 120,
        },
        "agent": {
            "model": "gpt-4",
            "max_tokens": 4096,
            "temperature": 0.7,
            "max_iterations": 15,
            "workspace": "/workspace",
            "data_dir": "/data",
        },
        "tools": {"allowed_dir": "/workspace", "exec_timeout_s": 60},
        "channels": {
            "mqtt": {
                "enabled": False,
                "broker": "",
                "port": 1883,
                "client_id": "chipclaw",
                "topic_in": "chipclaw/in",
                "topic_out": "chipclaw/out",
                "username": None,
                "password": None,
                "ssl": False,
                "keepalive_s": 60,
                # Closed: a broker lets others write as well.
                "allow_from": [],
                # True lets the assistant call the tools: whoever may publish on the topic can, too.
                "host": False,
            },
            "uart": {
                "enabled": True,
                "uart_id": 1,
                "baudrate": 115200,
                "tx_pin": 17,
                "rx_pin": 18,
                # The line is in the hand of whoever holds the board.
                "allow_from": ["*"],
                "host": True,
            },
        },
    }


class Config:
    """Settings, deep-merged with defaults. A file that cannot be read leaves the defaults, and says so."""

    def __init__(self, path="/config.json"):
        self.data = _merge(_defaults(), _read(path))

    def get(self, *keys, default=None):
        """Return the value below the keys; the default where there is none."""
        value = self.data
        for key in keys:
            if not isinstance(value, dict) or key not in value:
                return default
            value = value[key]
        return default if value is None else value

    @property
    def workspace(self):
        return self.get("agent", "workspace")

    @property
    def data_dir(self):
        return self.get("agent", "data_dir")


def _read(path):
    try:
        with open(path) as file:
            found = json.load(file)
    except OSError:
        log("There is no " + path + ": the defaults hold. Copy config.example.json to it.")
        return {}
    except ValueError as error:
        log(path + " is no JSON: the defaults hold.", error)
        return {}
    if isinstance(found, dict):
        return found
    log(path + " holds no object: the defaults hold.")
    return {}


def _merge(base, over):
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(base.get(key), dict):
            _merge(base[key], value)
        else:
            base[key] = value
    return base
