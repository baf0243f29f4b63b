"""Programs that the agent writes and runs."""

import builtins
import gc
import io
import json
import os
import sys

from chipclaw.agent.tools.base import Tool, schema, text
from chipclaw.utils import log, read_text, truncate_string, write_text

try:
    import machine
except ImportError:
    machine = None

MOST_CHARS = 4096
# The last of the board's four timers: programs begin with the first.
TIMER = 3

_print = print


class ExecMicroPythonTool(Tool):
    name = "exec_micropython"
    description = (
        "Run MicroPython code on this board and return what it prints, with what the modules print that it imports. "
        "An expression returns its value. __workspace__ is the path of the workspace, and its files can be imported. "
        "Nothing else runs meanwhile, so it has to end."
    )
    parameters = schema(["code"], code=text("The code"))

    def __init__(self, workspace, overrun_path=None, timeout_s=0):
        self.workspace = workspace
        # A note for the next start, where a program took longer than `timeout_s`.
        self.overrun_path = overrun_path
        self.timeout_s = timeout_s
        self.chat = None

    def set_context(self, channel, chat_id):
        self.chat = [channel, chat_id]

    def execute(self, code):
        """Run the code without a sandbox: the agent is meant to have the whole board."""
        gc.collect()
        said = io.StringIO()
        timer = self._start_timer()
        try:
            self._run(code, said)
        except SystemExit:
            said.write("(the program called exit)\n")
        except Exception as error:
            said.write("Error: ")
            _write_error(error, said)
        finally:
            if timer is not None:
                timer.deinit()
        result = said.getvalue()
        said.close()
        gc.collect()
        return truncate_string(result, MOST_CHARS) or "(no output)"

    def take_overrun(self):
        """Return (channel, chat_id) of the program that made the board start anew; None where there was none."""
        found = self.overrun_path and read_text(self.overrun_path, 1024)
        if not found:
            return None
        os.remove(self.overrun_path)
        try:
            channel, chat_id = json.loads(found)
            return channel, chat_id
        except (ValueError, TypeError):
            return None  # Of a host's call, or half written.

    def _run(self, code, said):
        def print_here(*parts, **how):
            if how.get("file") in (None, getattr(sys, "stdout", None)):
                how["file"] = said
            _print(*parts, **how)

        scope = {"__name__": "__exec__", "__workspace__": self.workspace}
        if self.workspace not in sys.path:
            sys.path.append(self.workspace)
        out = getattr(sys, "stdout", None)
        # The print of all modules. A build whose built-ins are fixed has that of the code itself.
        if not _assign(builtins, "print", print_here):
            scope["print"] = print_here
        # CPython only: MicroPython does not let one set it.
        _assign(sys, "stdout", said)
        try:
            value = _value_of(code, scope)
            if value is not None:
                print_here(repr(value))
        finally:
            _assign(sys, "stdout", out)
            _assign(builtins, "print", _print)

    def _start_timer(self):
        if not self.timeout_s or not hasattr(machine, "Timer"):
            return None
        timer = machine.Timer(TIMER)
        timer.init(mode=machine.Timer.ONE_SHOT, period=self.timeout_s * 1000, callback=self._end_overrun)
        return timer

    def _end_overrun(self, _):
        """Start the board anew: nothing else ends a program that does not end itself."""
        try:
            if self.overrun_path:
                write_text(self.overrun_path, json.dumps(self.chat))
        except OSError as error:
            log("That a program took too long could not be noted.", error)
        machine.reset()


def _value_of(code, scope):
    """Run the code. Return the value of an expression, None for anything else."""
    try:
        program = compile(code, "<exec>", "eval")
    except SyntaxError:
        exec(compile(code, "<exec>", "exec"), scope)
        return None
    return eval(program, scope)


def _assign(owner, name, value):
    """Tell whether the attribute could be set."""
    try:
        setattr(owner, name, value)
        return True
    except AttributeError:
        return False


def _write_error(error, said):
    if hasattr(sys, "print_exception"):
        sys.print_exception(error, said)
    else:
        said.write(repr(error) + "\n")
