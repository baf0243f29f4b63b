"""Conversations, as JSONL on flash: one message a line."""

import json

from chipclaw.utils import ensure_dir, safe_filename, truncate_string

HISTORY = 20
# So much of the end of a file is read: 20 messages of 1,000 letters fit.
TAIL_BYTES = 100 * 1024
# So many conversations stay in RAM; the others are on flash.
MOST_OPEN = 4


class Session:
    """A conversation. The last messages are in RAM; all of them are on flash."""

    def __init__(self, key):
        self.key = key
        self.messages = []
        self.unsaved = []

    def add_message(self, role, content, **more):
        msg = {"role": role, "content": truncate_string(content)}
        msg.update(more)
        self.messages.append(msg)
        self.unsaved.append(msg)
        if len(self.messages) > HISTORY:
            self.messages = self.messages[-HISTORY:]

    def get_history(self, max=HISTORY):
        return self.messages[-max:]

    def clear(self):
        self.messages = []


class SessionManager:
    def __init__(self, data_dir):
        self.folder = data_dir + "/sessions"
        self.sessions = {}
        self._order = []

    def get_or_create(self, key):
        if key not in self.sessions:
            self.sessions[key] = self._load(key)
        if key in self._order:
            self._order.remove(key)
        self._order.append(key)
        while len(self._order) > MOST_OPEN:
            del self.sessions[self._order.pop(0)]
        return self.sessions[key]

    def save(self, session):
        """Append what is new: a power cut loses one line at most, and none of the earlier ones."""
        ensure_dir(self.folder)
        path = self._path(session.key)
        begin = "" if _ends_line(path) else "\n"
        with open(path, "a") as file:
            file.write(begin)
            for msg in session.unsaved:
                file.write(json.dumps(msg) + "\n")
        session.unsaved = []

    def _path(self, key):
        return self.folder + "/" + safe_filename(key) + ".jsonl"

    def _load(self, key):
        session = Session(key)
        try:
            with open(self._path(key), "rb") as file:
                file.seek(0, 2)
                start = max(0, file.tell() - TAIL_BYTES)
                file.seek(start)
                if start > 0:
                    file.readline()
                for line in file:
                    _take(session, line)
        except OSError:
            pass  # A conversation that begins.
        return session


def _take(session, line):
    try:
        msg = json.loads(line)
        session.messages.append({"role": msg["role"], "content": msg["content"]})
    except (ValueError, KeyError, TypeError):
        return  # A line that a power cut has halved.
    if len(session.messages) > HISTORY:
        session.messages.pop(0)


def _ends_line(path):
    try:
        with open(path, "rb") as file:
            if file.seek(0, 2) == 0:
                return True
            file.seek(-1, 2)
            return file.read(1) == b"\n"
    except OSError:
        return True
