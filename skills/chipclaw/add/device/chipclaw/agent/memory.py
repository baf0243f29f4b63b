"""What the agent remembers: MEMORY.md, and a note for each day."""

from chipclaw.utils import date_of, ensure_dir, read_text, timestamp, today_date, write_text

DAYS = 3
DAY_S = 86400
# The prompt is in RAM as a whole, so each part of it has its limit.
MOST_LONG_TERM = 8 * 1024
MOST_NOTE = 4 * 1024


class MemoryStore:
    def __init__(self, workspace):
        self.memory_dir = workspace + "/memory"

    def read_long_term(self):
        return read_text(self.memory_dir + "/MEMORY.md", MOST_LONG_TERM) or ""

    def write_long_term(self, content):
        write_text(self.memory_dir + "/MEMORY.md", content)

    def read_today(self):
        return self._read_day(today_date())

    def append_today(self, content):
        ensure_dir(self.memory_dir)
        with open(self._path(today_date()), "a") as file:
            file.write(content + "\n")

    def get_recent_memories(self, days=DAYS):
        """Return the notes of the last days with their dates, today's first."""
        found = []
        for back in range(days):
            date = date_of(timestamp() - back * DAY_S)
            note = self._read_day(date)
            if note:
                found.append("### " + date + "\n" + note)
        return "\n\n".join(found)

    def get_memory_context(self):
        parts = []
        long_term = self.read_long_term()
        if long_term:
            parts.append("## Long-term memory\n" + long_term)
        recent = self.get_recent_memories()
        if recent:
            parts.append("## Notes of the last days\n" + recent)
        return "\n\n".join(parts)

    def _read_day(self, date):
        return read_text(self._path(date), MOST_NOTE) or ""

    def _path(self, date):
        return self.memory_dir + "/" + date + ".md"
