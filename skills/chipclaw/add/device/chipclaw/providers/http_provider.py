"""A model behind an OpenAI-compatible API."""

import gc
import json
import sys

from chipclaw.providers.base import LLMResponse, ProviderError, ToolCallRequest
from chipclaw.utils import asyncio, decode, truncate_string

try:
    import urequests as requests
except ImportError:
    try:
        import requests
    except ImportError:
        requests = None

# A longer answer does not fit into RAM together with what is read out of it.
MAX_BYTES = 50 * 1024
LONGEST_WAIT_S = 60


class Redirected(OSError):
    """MicroPython's requests would follow a redirect with the key, to whichever server it names."""


def keep_header(line, headers):
    """Keep a header of the answer, before the library acts on it."""
    key, _, value = decode(line).partition(":")
    headers[key.lower()] = value.strip()
    if key.lower() == "location":
        raise Redirected("it redirects to " + value.strip())


if sys.implementation.name == "micropython":
    STREAM = {}
    _CARE = {"parse_headers": keep_header}
else:
    # CPython's library reads the whole body itself without `stream`.
    STREAM = {"stream": True}
    _CARE = {"stream": True, "allow_redirects": False}
# CPython's library asks for compressed bodies otherwise, and `read_body` takes them as they come.
PLAIN = "identity"


class HTTPProvider:
    def __init__(self, api_key, api_base, timeout_s=120):
        self.api_key = api_key
        self.api_base = api_base.rstrip("/")
        self.timeout_s = timeout_s

    async def chat(self, messages, tools=None, model="gpt-4", max_tokens=4096, temperature=0.7):
        """Ask the model. A server that is busy is asked once more. Raises ProviderError."""
        body = {
            "model": model,
            "messages": messages,
            "max_tokens": max_tokens,
            "temperature": temperature,
        }
        if tools:
            body["tools"] = tools
            body["tool_choice"] = "auto"
        payload = json.dumps(body).encode()
        del body
        status, headers, data = self._post(payload)
        if status in (429, 503):
            await asyncio.sleep(_wait_s(headers))
            status, headers, data = self._post(payload)
        del payload
        response = _read(status, data)
        del data
        gc.collect()
        return response

    def _post(self, payload):
        if requests is None:
            raise ProviderError("This Python has neither urequests nor requests, so no model.")
        gc.collect()
        response = None
        try:
            response = requests.post(
                self.api_base + "/chat/completions",
                data=payload,
                headers={
                    "Content-Type": "application/json",
                    "Authorization": "Bearer " + self.api_key,
                    "Accept-Encoding": PLAIN,
                },
                timeout=self.timeout_s,
                **_CARE
            )
            return response.status_code, _headers(response), read_body(response, MAX_BYTES)
        except (OSError, ValueError, NotImplementedError, IndexError) as error:
            raise ProviderError(
                "The model cannot be reached (%s). Look at the network and at provider.api_base in /config.json."
                % error
            )
        finally:
            if response is not None:
                response.close()
            gc.collect()


def read_body(response, limit):
    """Return the body of a response, one byte more than the limit at most."""
    left = _length(response)
    if left is None or left > limit + 1:
        left = limit + 1
    body = bytearray(left)
    view = memoryview(body)
    at = 0
    while at < left:
        count = response.raw.readinto(view[at : min(at + 1024, left)])
        if not count:
            break
        at += count
    return body if at == left else body[:at]


def _length(response):
    """Return the length that the server has told: it may keep the connection open after the body."""
    try:
        return int(_headers(response).get("content-length", ""))
    except ValueError:
        return None


def _headers(response):
    headers = getattr(response, "headers", None) or {}
    return {key.lower(): value.strip() for key, value in headers.items()}


def _wait_s(headers):
    try:
        return min(int(headers.get("retry-after", "2")), LONGEST_WAIT_S)
    except ValueError:
        return 2


def _read(status, data):
    if status == 401 or status == 403:
        raise ProviderError(
            "The model refuses the key (%d). Look at provider.api_key in /config.json." % status
        )
    if status != 200:
        raise ProviderError(
            "The model answered with the error %d: %s" % (status, truncate_string(decode(data), 300))
        )
    if len(data) > MAX_BYTES:
        raise ProviderError("The model's answer is longer than 50 KB. Ask for a shorter one.")
    try:
        answer = json.loads(data)
        choice = answer["choices"][0]
        message = choice["message"]
    except (ValueError, KeyError, IndexError, TypeError):
        raise ProviderError("The model's answer is none: " + truncate_string(decode(data), 200))
    calls = message.get("tool_calls")
    return LLMResponse(
        message.get("content"),
        [_call(call) for call in calls] if calls else None,
        choice.get("finish_reason") or "stop",
        answer.get("usage") or {},
    )


def _call(call):
    function = call.get("function") or {}
    try:
        arguments = json.loads(function.get("arguments") or "{}")
    except ValueError:
        arguments = None
    if not isinstance(arguments, dict):
        arguments = None
    return ToolCallRequest(call.get("id", ""), function.get("name", ""), arguments)
