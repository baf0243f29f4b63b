"""The tools that there are."""

import json


class ToolRegistry:
    def __init__(self):
        self.tools = {}

    def register(self, tool):
        self.tools[tool.name] = tool

    def get(self, name):
        return self.tools.get(name)

    def get_definitions(self):
        return [tool.to_schema() for tool in self.tools.values()]

    def set_context(self, channel, chat_id):
        """Tell the tools whose message is being answered."""
        for tool in self.tools.values():
            if hasattr(tool, "set_context"):
                tool.set_context(channel, chat_id)

    def execute(self, name, params):
        """Run a tool. What goes wrong is the result, as `Error: …`; it never raises."""
        tool = self.get(name)
        if tool is None:
            return "Error: Tool '%s' not found" % name
        lacking = [key for key in tool.parameters.get("required", []) if key not in params]
        if lacking:
            return "Error: %s needs %s" % (name, ", ".join(lacking))
        try:
            result = tool.execute(**params)
        except Exception as error:
            return "Error: %s" % (str(error) or type(error).__name__)
        return result if isinstance(result, str) else json.dumps(result)
