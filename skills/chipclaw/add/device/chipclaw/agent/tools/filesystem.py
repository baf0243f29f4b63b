"""Files below the workspace."""

import os

from chipclaw.agent.tools.base import Tool, schema, text
from chipclaw.utils import ensure_dir, read_text, write_text

MOST_BYTES = 10 * 1024


def resolve(path, allowed_dir):
    """Return the absolute path; a relative one begins at the allowed folder. Raises ValueError outside of it."""
    whole = path if path.startswith("/") else allowed_dir + "/" + path
    parts = []
    for part in whole.split("/"):
        if part == "..":
            if parts:
                parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    found = "/" + "/".join(parts)
    root = "/" + allowed_dir.strip("/")
    if root == "/" or found == root or found.startswith(root + "/"):
        return found
    raise ValueError(path + " is outside of " + allowed_dir)


class FileTool(Tool):
    def __init__(self, allowed_dir):
        self.allowed_dir = allowed_dir


class ReadFileTool(FileTool):
    name = "read_file"
    description = "Read a text file below /workspace. More than 10 KB are cut."
    parameters = schema(["path"], path=text("Path, relative to /workspace"))

    def execute(self, path):
        found = read_text(resolve(path, self.allowed_dir), MOST_BYTES)
        if found is None:
            return "Error: there is no file " + path
        return found


class WriteFileTool(FileTool):
    name = "write_file"
    description = "Write a text file below /workspace. Missing folders are made."
    parameters = schema(
        ["path", "content"],
        path=text("Path, relative to /workspace"),
        content=text("The whole text of the file"),
        append={"type": "boolean", "description": "true adds to the end of the file"},
    )

    def execute(self, path, content, append=False):
        whole = resolve(path, self.allowed_dir)
        if append:
            ensure_dir(whole.rsplit("/", 1)[0])
            with open(whole, "a") as file:
                file.write(content)
        else:
            write_text(whole, content)
        return "Wrote %d bytes to %s" % (len(content.encode()), path)


class ListDirTool(FileTool):
    name = "list_dir"
    description = "List a folder below /workspace: name, type and size."
    parameters = schema([], path=text("Path, relative to /workspace; the workspace itself by default"))

    def execute(self, path="."):
        folder = resolve(path, self.allowed_dir)
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            return "Error: there is no folder " + path
        return [_entry(folder, name) for name in names]


def _entry(folder, name):
    stat = os.stat(folder + "/" + name)
    is_folder = stat[0] & 0x4000 != 0
    return {"name": name, "type": "dir" if is_folder else "file", "size": 0 if is_folder else stat[6]}
