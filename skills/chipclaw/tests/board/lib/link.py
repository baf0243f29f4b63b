"""Calls to the test, which holds the pins, the serial line and the network of this board."""

import json

import boardlink


def call(op, **args):
    return json.loads(boardlink.call(op, json.dumps(args)))


def pack(data):
    return bytes(data).hex()


def unpack(text):
    return bytes.fromhex(text)
