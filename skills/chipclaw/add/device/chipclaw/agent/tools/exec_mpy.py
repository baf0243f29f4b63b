"""Programs that the agent writes and runs."""

import gc
import io
import sys

from chipclaw.agent.tools.base import Tool, schema, text
from chipclaw.utils import truncate_string

MOST_CHARS = 4096


class ExecMicroPythonTool(Tool):
    name = "exec_micropython"
    description = (
        "Run MicroPython code on this board and return what it prints. An expression returns its value. "
        "__workspace__ is the path of the workspace. Nothing else runs meanwhile, so it has to end."
    )
    parameters = schema(["code"], code=text("The code"))

    def __init__(self, workspace):
        self.workspace = workspace

    def execute(self, code):
        """Run the code without a sandbox: the agent is meant to have the whole board."""
        gc.collect()
        said = io.StringIO()
        try:
            self._run(code, said)
        except SystemExit:
            said.write("(the program called exit)\n")
        except Exception as error:
            said.write("Error: ")
            _write_error(error, said)
        result = said.getvalue()
        said.close()
        gc.collect()
        return truncate_string(result, MOST_CHARS) or "(no output)"

    def _run(self, code, said):
        def print_here(*parts, **how):
            how.setdefault("file", said)
            print(*parts, **how)

        # A print of this scope and not another sys.stdout, which most boards do not let one set.
        scope = {"__name__": "__exec__", "__workspace__": self.workspace, "print": print_here}
        try:
            program = compile(code, "<exec>", "eval")
        except SyntaxError:
            exec(compile(code, "<exec>", "exec"), scope)
            return
        value = eval(program, scope)
        if value is not None:
            said.write(repr(value) + "\n")


def _write_error(error, said):
    if hasattr(sys, "print_exception"):
        sys.print_exception(error, said)
    else:
        said.write(repr(error) + "\n")
