import { nearestNames } from '../../lib/nearest-names.ts';
import { TaskRefused } from './task-refused.ts';

/**
 * Returns the name of a time zone as the calendar knows it: `europe/berlin` is `Europe/Berlin`.
 *
 * @throws TaskRefused with the nearest names when there is none of that name
 */
export function checkTimeZone(name: string): string {
  // An offset is not a zone: it has no daylight saving.
  const isOffset = /^[+-]/.test(name);
  try {
    if (!isOffset)
      return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    // A RangeError says no more than that there is none.
  }
  const zones = Intl.supportedValuesOf('timeZone');
  const city = name.toLowerCase().replaceAll(' ', '_');
  const named = zones.filter((zone) => zone.toLowerCase().split('/').includes(city));
  const hint = (named.length > 0 ? named : nearestNames(name, zones, 3)).slice(0, 3).join(', ');
  throw new TaskRefused(
    isOffset
      ? `"${name}" is an offset, which knows no daylight saving. Name the zone, such as Europe/Berlin.`
      : `There is no time zone "${name}". ${hint === '' ? 'Name one such as Europe/Berlin.' : `Nearest: ${hint}.`}`,
  );
}
