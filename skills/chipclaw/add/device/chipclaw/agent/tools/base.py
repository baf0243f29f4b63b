"""A tool."""


class Tool:
    name = None
    description = None
    # JSON Schema of its parameters
    parameters = {"type": "object", "properties": {}}

    def execute(self, **params):
        """Return the result: a text, or a value that becomes JSON."""
        raise NotImplementedError

    def to_schema(self):
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": self.parameters,
            },
        }


def schema(required, **properties):
    return {"type": "object", "properties": properties, "required": required}


def text(description):
    return {"type": "string", "description": description}


def number(description):
    return {"type": "integer", "description": description}
