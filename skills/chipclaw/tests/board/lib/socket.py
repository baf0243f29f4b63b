"""TCP, by the sockets of the test. Reads wait as those of a board do, and the whole board with them."""

from link import call, give, take

AF_INET = 2
SOCK_STREAM = 1
IPPROTO_TCP = 6


def getaddrinfo(host, port, *more):
    return [(AF_INET, SOCK_STREAM, IPPROTO_TCP, "", (host, port))]


class socket:
    def __init__(self, *more):
        self.id = None
        self.timeout = None

    def settimeout(self, seconds):
        self.timeout = seconds

    def setblocking(self, is_blocking):
        self.timeout = None if is_blocking else 0

    def connect(self, address):
        reply = call("tcp.connect", host=address[0], port=address[1])
        if "error" in reply:
            raise OSError(reply["error"])
        self.id = reply["id"]

    def read(self, count=-1):
        return self._receive(count=count)

    def readline(self):
        return self._receive(isLine=True, count=-1)

    def readinto(self, buf):
        data = self.read(len(buf))
        if data is None:
            return None
        buf[: len(data)] = data
        return len(data)

    def write(self, data, count=None):
        if isinstance(data, str):
            data = data.encode()
        if count is not None:
            data = bytes(data)[:count]
        reply = give("tcp.send", data, id=self.id)
        if "error" in reply:
            raise OSError(reply["error"])
        return len(data)

    send = write

    def close(self):
        if self.id is not None:
            call("tcp.close", id=self.id)

    def _receive(self, **how):
        reply = call("tcp.receive", id=self.id, timeout=self.timeout, **how)
        if "error" in reply:
            raise OSError(reply["error"])
        return take() if reply["hasData"] else None
