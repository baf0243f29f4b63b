"""Pins and buses of the board."""

from chipclaw.agent.tools.base import Tool, number, schema

try:
    import machine
except ImportError:
    machine = None

NO_HARDWARE = "Error: this Python has no module machine: there are no pins here"


class GPIOTool(Tool):
    name = "gpio"
    description = (
        "Use a pin. read and write are digital; adc reads a voltage as 0 to 65535; "
        "pwm puts out a square wave with value 0 to 65535 as its duty."
    )
    parameters = schema(
        ["pin", "mode"],
        pin=number("Number of the pin"),
        mode={"type": "string", "enum": ["read", "write", "pwm", "adc"]},
        value=number("For write: 0 or 1. For pwm: duty, 0 to 65535"),
        freq=number("For pwm: frequency in hertz, 1000 by default"),
    )

    def __init__(self):
        # A wave goes on until its pin is used in another way.
        self.waves = {}

    def execute(self, pin, mode, value=None, freq=1000):
        if machine is None:
            return NO_HARDWARE
        if mode not in ("read", "write", "pwm", "adc"):
            return "Error: mode is read, write, pwm or adc, not %s" % mode
        if mode in ("write", "pwm") and value is None:
            return "Error: mode %s needs value" % mode
        if mode == "pwm":
            return self._pwm(pin, value, freq)
        if pin in self.waves:
            self.waves.pop(pin).deinit()
        if mode == "read":
            return {"pin": pin, "value": machine.Pin(pin, machine.Pin.IN).value()}
        if mode == "adc":
            return {"pin": pin, "value": machine.ADC(machine.Pin(pin)).read_u16()}
        level = 1 if value else 0
        machine.Pin(pin, machine.Pin.OUT).value(level)
        return {"pin": pin, "value": level}

    def _pwm(self, pin, value, freq):
        if not 0 <= value <= 65535:
            return "Error: the duty is 0 to 65535, not %s" % value
        if pin not in self.waves:
            self.waves[pin] = machine.PWM(machine.Pin(pin))
        wave = self.waves[pin]
        wave.freq(freq)
        wave.duty_u16(value)
        return {"pin": pin, "duty": value, "freq": freq}


class I2CScanTool(Tool):
    name = "i2c_scan"
    description = "Find the devices on an I2C bus."
    parameters = schema(["scl", "sda"], scl=number("Pin of the clock"), sda=number("Pin of the data"))

    def execute(self, scl, sda):
        if machine is None:
            return NO_HARDWARE
        bus = machine.SoftI2C(scl=machine.Pin(scl), sda=machine.Pin(sda))
        return {"addresses": ["0x%02x" % address for address in bus.scan()]}
