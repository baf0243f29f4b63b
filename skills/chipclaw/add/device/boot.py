# Runs first, on every start of the board: network and clock.
from chipclaw.config import Config
from chipclaw.network import connect

connect(Config())
