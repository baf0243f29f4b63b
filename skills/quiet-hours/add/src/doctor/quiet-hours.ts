import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ALL_DAY } from '../lib/quiet-hours/hours.ts';
import { openReadOnly } from '../store/open-read-only.ts';
import { parseQuietBook, type QuietBook, quietRow } from '../store/quiet-hours.ts';
import { type Examination, type Finding, ok, problem } from './examination.ts';

const AREA = 'quiet hours';

/** Says whether there are quiet hours, and whether some of them never end. */
export const examination: Examination = {
  area: AREA,
  order: 77,
  async examine({ dataDir }) {
    const path = join(dataDir, 'claw.db');
    if (!existsSync(path)) return [ok(AREA, 'none yet', 'Say `/quiet 22:00-7:00` in your chat.')];
    const database = openReadOnly(path);
    try {
      return [findingOf(parseQuietBook(quietRow(database)))];
    } finally {
      database.close();
    }
  },
};

function findingOf(book: QuietBook | null): Finding {
  if (book === null) {
    return problem(AREA, 'the rules cannot be read, so nothing is held', 'Say `/quiet` anew.');
  }
  const rules = [book.all, ...Object.values(book.chats)];
  const weeks = rules.flatMap(({ hours }) => (hours === null ? [] : [hours]));
  const isDay = (hours: { from: number; to: number } | null) =>
    hours !== null && hours.to - hours.from === ALL_DAY.to;
  if (weeks.some(({ weekdays, weekends }) => isDay(weekdays) && isDay(weekends))) {
    return problem(
      AREA,
      'a chat is quiet all day and all week: what is held there is never sent',
      'Say `/quiet` in your chat, and shorten those hours.',
    );
  }
  const known = new Set([...Intl.supportedValuesOf('timeZone'), 'UTC']);
  const strange = weeks.find(({ timeZone }) => !known.has(timeZone));
  if (strange !== undefined) {
    return problem(
      AREA,
      `this machine does not know the time zone ${strange.timeZone}: UTC counts`,
      'Name another: `/quiet 22:00-7:00 in Europe/Berlin`.',
    );
  }
  const count = weeks.filter(({ weekdays, weekends }) => weekdays ?? weekends).length;
  return count === 0
    ? ok(AREA, 'none are set', 'Say `/quiet 22:00-7:00` in your chat.')
    : ok(
        AREA,
        `${count === 1 ? 'one rule' : `${count} rules`}; \`/quiet\` in your chat shows them`,
      );
}
