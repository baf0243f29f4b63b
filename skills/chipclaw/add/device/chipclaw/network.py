"""Wi-Fi and the clock."""

from chipclaw.utils import log, sleep_ms, ticks_diff, ticks_ms, today_date


def connect(config):
    """Join the network and set the clock. Without either the board goes on: its serial line needs none."""
    try:
        import network
    except ImportError:
        log("This Python has no module network: no Wi-Fi. The serial line works without.")
        return False
    ssid = config.get("wifi", "ssid")
    if not ssid:
        log("No Wi-Fi is set. Write wifi.ssid and wifi.password to /config.json.")
        return False
    wlan = network.WLAN(network.STA_IF)
    wlan.active(True)
    if not wlan.isconnected():
        wlan.connect(ssid, config.get("wifi", "password", default=""))
    if not _wait(wlan, config.get("wifi", "timeout_s")):
        log("No Wi-Fi yet. Look at wifi.ssid and wifi.password. The board goes on trying.")
        return False
    log("Wi-Fi connected:", wlan.ifconfig()[0])
    _set_clock(config.get("ntp", "host"))
    return True


def _wait(wlan, timeout_s):
    begun = ticks_ms()
    while not wlan.isconnected():
        if ticks_diff(ticks_ms(), begun) > timeout_s * 1000:
            return False
        sleep_ms(100)
    return True


def _set_clock(host):
    try:
        import ntptime

        ntptime.host = host
        ntptime.settime()
        log("The clock is set:", today_date())
    except (ImportError, OSError) as error:
        log("The clock is not set, so the dates of notes are wrong.", error)
