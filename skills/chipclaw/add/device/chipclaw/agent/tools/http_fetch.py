"""Pages of the web."""

import gc

from chipclaw.agent.tools.base import Tool, schema, text
from chipclaw.providers.http_provider import PLAIN, STREAM, read_body, requests
from chipclaw.utils import decode

MOST_BYTES = 4 * 1024
TIMEOUT_S = 20


class HTTPFetchTool(Tool):
    name = "http_fetch"
    description = "Get a page by HTTP. More than 4 KB are cut."
    parameters = schema(["url"], url=text("Address, with http:// or https://"))

    def execute(self, url):
        if requests is None:
            return "Error: this Python has neither urequests nor requests"
        if not url.startswith(("http://", "https://")):
            return "Error: the address begins with http:// or https://"
        gc.collect()
        response = requests.get(url, headers={"Accept-Encoding": PLAIN}, timeout=TIMEOUT_S, **STREAM)
        try:
            status = response.status_code
            data = read_body(response, MOST_BYTES)
        finally:
            response.close()
            gc.collect()
        body = decode(data[:MOST_BYTES])
        if len(data) > MOST_BYTES:
            body += "...(truncated)"
        return body if status == 200 else "HTTP %d\n%s" % (status, body)
