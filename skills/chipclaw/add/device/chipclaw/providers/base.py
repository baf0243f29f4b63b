"""What a model is asked and what it answers."""


class ProviderError(Exception):
    """The model gave no answer. The text says why, and what to do."""


class ToolCallRequest:
    def __init__(self, id, name, arguments):
        self.id = id
        self.name = name
        # A dict; None where the model wrote what is no JSON object.
        self.arguments = arguments


class LLMResponse:
    def __init__(self, content, tool_calls, finish_reason, usage):
        self.content = content
        self.tool_calls = tool_calls
        # "stop", "tool_calls" or "length"
        self.finish_reason = finish_reason
        self.usage = usage

    @property
    def has_tool_calls(self):
        return self.tool_calls is not None and len(self.tool_calls) > 0
