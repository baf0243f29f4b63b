# Runs after boot.py: the agent and its channels, until the board is switched off.
from chipclaw.app import start

start()
