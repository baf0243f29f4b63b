"""An agent for a microcontroller, in MicroPython."""

__version__ = "0.1.0"
