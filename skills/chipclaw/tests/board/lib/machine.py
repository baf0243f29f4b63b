"""Pins, waves, voltages, an I2C bus and a serial line, as an ESP32 has them."""

from link import call, give, take


class Pin:
    IN = 0
    OUT = 1

    def __init__(self, id, mode=None):
        self.id = id
        if mode is not None:
            call("pin.mode", pin=id, mode=mode)

    def value(self, level=None):
        if level is None:
            return call("pin.read", pin=self.id)
        call("pin.write", pin=self.id, value=1 if level else 0)

    def on(self):
        self.value(1)

    def off(self):
        self.value(0)


class ADC:
    def __init__(self, pin):
        self.pin = pin

    def read_u16(self):
        return call("adc", pin=self.pin.id)


class PWM:
    def __init__(self, pin):
        self.pin = pin

    def freq(self, value):
        call("pwm", pin=self.pin.id, freq=value)

    def duty_u16(self, value):
        call("pwm", pin=self.pin.id, duty=value)

    def deinit(self):
        call("pwm", pin=self.pin.id, duty=None, freq=None)


class SoftI2C:
    def __init__(self, scl, sda):
        self.pins = (scl.id, sda.id)

    def scan(self):
        return call("i2c", scl=self.pins[0], sda=self.pins[1])


class UART:
    def __init__(self, id, baudrate, tx, rx):
        call("uart.open", id=id, baudrate=baudrate, tx=tx, rx=rx)

    def any(self):
        return call("uart.any")

    def read(self):
        call("uart.read")
        return take() or None

    def write(self, data):
        # As a board with a small buffer: not all of it at once.
        part = data[:512]
        give("uart.write", part)
        return len(part)


class Timer:
    ONE_SHOT = 0
    running = []

    def __init__(self, id):
        self.id = id

    def init(self, mode, period, callback):
        self.period = period
        self.callback = callback
        Timer.running.append(self)

    def deinit(self):
        Timer.running.remove(self)


def reset():
    call("reset")
