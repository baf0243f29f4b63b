# Runs first, on every start of the board: an update that was cut is finished; then network and clock.
from chipclaw.update import finish

finish()
from chipclaw.config import Config
from chipclaw.network import connect

connect(Config())
