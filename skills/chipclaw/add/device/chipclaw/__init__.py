"""An agent for a microcontroller, in MicroPython."""

__version__ = "1.0.0"
