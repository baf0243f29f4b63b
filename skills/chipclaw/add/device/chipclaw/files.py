"""Files that the assistant writes and reads in parts: a file is there whole, or as it was."""

import binascii
import hashlib
import os

from chipclaw import update
from chipclaw.utils import ensure_dir, flash, list_names, move

# A part, in bytes: as base64 it fits into a line.
MOST_PART = 3072
# What stays free on flash.
RESERVE = 16 * 1024
# Holds the key of the model: it goes to nobody.
SECRET = "/config.json"


class Files:
    """The whole flash but for the settings."""

    def begin(self, path, size, sha256):
        """Return how much of this very file is here already."""
        path = checked(path)
        part = _part(path, sha256)
        for name in list_names(_folder(path)):
            other = _folder(path) + "/" + name
            if name.startswith(_name(path) + ".") and name.endswith(".push") and other != part:
                os.remove(other)
        at = _size(part) or 0
        if at > size:
            os.remove(part)
            at = 0
        free = flash()
        if free is not None and free[0] < size - at + RESERVE:
            raise ValueError("the flash has %d bytes free, and %d are needed" % (free[0], size - at + RESERVE))
        ensure_dir(_folder(path))
        open(part, "ab").close()
        return {"at": at}

    def chunk(self, path, sha256, at, data):
        """Append a part. One that is here already is passed over."""
        part = _part(checked(path), sha256)
        size = _size(part)
        if size is None:
            raise ValueError("the transfer has not begun")
        if at == size:
            with open(part, "ab") as file:
                file.write(binascii.a2b_base64(data.encode()))
        return {"at": _size(part)}

    def end(self, path, sha256, size):
        """Check the file, and only then give it its name."""
        path = checked(path)
        part = _part(path, sha256)
        if _size(part) is None:
            # The answer to an earlier end was lost.
            if digest(path) == sha256:
                return {"size": _size(path)}
            raise ValueError("the transfer has not begun")
        if _size(part) != size:
            raise ValueError("%d of %d bytes are here" % (_size(part), size))
        if digest(part) != sha256:
            os.remove(part)
            raise ValueError("the file did not arrive as it was sent; the old one stays")
        move(part, path)
        return {"size": size}

    def stage(self, path, sha256, size, at):
        """Check a file of a set, and note it as number `at`. None of a set has its name before `swap`."""
        part = _part(checked(path), sha256)
        if _size(part) != size or digest(part) != sha256:
            raise ValueError(path + " is not here as it was sent")
        return {"count": update.note(at, part)}

    def swap(self, count):
        return {"count": update.swap(count)}

    def stat(self, path):
        """Return size and digest; a size of None where there is no such file."""
        path = checked(path)
        size = _size(path)
        return {"size": size, "sha256": None if size is None else digest(path)}

    def read(self, path, at):
        path = checked(path)
        with open(path, "rb") as file:
            file.seek(at)
            return {"data": binascii.b2a_base64(file.read(MOST_PART)).decode().strip()}


def checked(path):
    """Return the path as it is, where it is absolute and plain. Raises ValueError otherwise."""
    parts = path.split("/")
    if not path.startswith("/") or len(path) > 200 or not parts[-1] or "" in parts[1:] or "." in parts or ".." in parts:
        raise ValueError(path + " is no absolute path of a file")
    if path == SECRET or path.startswith(SECRET + "."):
        raise ValueError(SECRET + " holds keys: its owner writes it on the board")
    return path


def digest(path):
    """Return the SHA-256 of a file; None where there is none."""
    sha = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while True:
                data = file.read(512)
                if not data:
                    return binascii.hexlify(sha.digest()).decode()
                sha.update(data)
    except OSError:
        return None


def _part(path, sha256):
    if len(sha256) != 64 or any(letter not in "0123456789abcdef" for letter in sha256):
        raise ValueError("sha256 is no digest")
    return path + "." + sha256[:12] + ".push"


def _folder(path):
    return path.rsplit("/", 1)[0]


def _name(path):
    return path.rsplit("/", 1)[1]


def _size(path):
    try:
        stat = os.stat(path)
    except OSError:
        return None
    if stat[0] & 0x4000:
        raise ValueError(path + " is a folder")
    return stat[6]
