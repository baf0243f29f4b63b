"""Files, dates and memory of the board."""

import gc
import os
import time

try:
    import asyncio
except ImportError:  # Before MicroPython 1.21 it had this name.
    import uasyncio as asyncio

try:
    from time import sleep_ms, ticks_diff, ticks_ms
except ImportError:  # CPython has none of the three.

    def ticks_ms():
        return int(time.monotonic() * 1000)

    def ticks_diff(later, earlier):
        return later - earlier

    def sleep_ms(count):
        time.sleep(count / 1000)


def log(*parts):
    """Print a line to the console of the board, with everything else that it says of itself."""
    print("[chipclaw]", *parts)


def ensure_dir(path):
    """Create a folder and its parents where they are missing."""
    at = ""
    for part in path.split("/"):
        if not part:
            continue
        at += "/" + part
        try:
            os.mkdir(at)
        except OSError:
            pass  # It is there. Where it is not, the write into it tells.


def is_dir(path):
    try:
        return os.stat(path)[0] & 0x4000 != 0
    except OSError:
        return False


def list_names(path):
    """Return the names in a folder, sorted; none where there is no such folder."""
    try:
        return sorted(os.listdir(path))
    except OSError:
        return []


def read_text(path, limit):
    """Return the text of a file, cut after so many bytes; None where there is no such file."""
    try:
        with open(path, "rb") as file:
            data = file.read(limit + 1)
    except OSError:
        return None
    if len(data) <= limit:
        return decode(data)
    return decode(data[:limit]) + "...(truncated)"


def decode(data):
    """Return bytes as text. A letter that a cut has halved is left out; what is no text is replaced by '?'."""
    for cut in range(4):
        try:
            return str(data[: len(data) - cut], "utf-8")
        except UnicodeError:
            pass
    return "".join([chr(byte) if byte < 128 else "?" for byte in data])


def write_text(path, text):
    """Write a file by way of another one: power that fails in between leaves the old text."""
    ensure_dir(path.rsplit("/", 1)[0])
    part = path + ".part"
    with open(part, "w") as file:
        file.write(text)
    move(part, path)


def move(part, path):
    """Give a file its name, in place of one that is there."""
    try:
        os.rename(part, path)
    except OSError:  # FAT does not rename over a file that is there.
        os.remove(path)
        os.rename(part, path)


def date_of(seconds):
    t = time.localtime(seconds)
    return "%04d-%02d-%02d" % (t[0], t[1], t[2])


def today_date():
    """Return today as YYYY-MM-DD."""
    return date_of(timestamp())


def timestamp():
    return int(time.time())


def safe_filename(name):
    """Return a name that is one file's: no colon, no slash, not too long for the file system."""
    return name.replace(":", "_").replace("/", "_")[:120]


def truncate_string(text, max_len=1000):
    if len(text) > max_len:
        return text[:max_len] + "...(truncated)"
    return text


def free_memory():
    """Return free bytes of RAM; None where this Python does not tell."""
    try:
        return gc.mem_free()
    except AttributeError:
        return None


def flash():
    """Return (free, total) bytes of the file system; None where this Python does not tell."""
    try:
        stat = os.statvfs("/")
        return stat[0] * stat[3], stat[1] * stat[2]
    except (AttributeError, OSError):
        return None
