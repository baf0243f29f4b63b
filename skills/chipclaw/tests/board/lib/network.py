"""Wi-Fi that lets in who has the password."""

from link import call

STA_IF = 0


class WLAN:
    def __init__(self, interface):
        pass

    def active(self, is_active):
        pass

    def connect(self, ssid, password):
        call("wifi.connect", ssid=ssid, password=password)

    def isconnected(self):
        return call("wifi.isconnected")

    def ifconfig(self):
        return ("192.168.1.77", "255.255.255.0", "192.168.1.1", "192.168.1.1")
