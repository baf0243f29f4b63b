import { painted, type Screen } from '@patchclaw/claw/cli';
import type { LogLine } from './line.ts';

/** A line for people; a heading comes before the first line of each day. */
export type FormatLine = (line: LogLine) => string;

/** @param today lines of this day need no heading at first */
export async function lineFormat(screen: Screen, today: number): Promise<FormatLine> {
  const { prettyFactory } = await import('pino-pretty');
  const pretty = prettyFactory({
    colorize: screen.hasColours,
    singleLine: true,
    errorLikeObjectKeys: [],
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'pid,hostname,group',
    messageFormat: '{if group}[{group}] {end}{msg}',
  });
  let day = dayOf(today);
  return ({ fields, raw, time }) => {
    const isNewDay = time !== null && dayOf(time) !== day;
    if (isNewDay) day = dayOf(time);
    const heading = isNewDay ? `${painted(day, 'dim', screen)}\n` : '';
    const text = fields === null ? `${plain(raw)}\n` : pretty(plainIn(fields));
    return `${heading}${text ?? ''}`;
  };
}

function dayOf(time: number): string {
  return new Date(time).toLocaleDateString('sv');
}

/** Replaces control characters, so that text from a log cannot steer the terminal. */
function plain(text: string): string {
  return text.replace(/[\x00-\x1f\x7f-\x9f]/g, '\uFFFD');
}

function plainIn(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const copy: unknown = JSON.parse(JSON.stringify(fields), (_, value: unknown) =>
    // What is not there is left out, as undefined is.
    value === null ? undefined : typeof value === 'string' ? plain(value) : value,
  );
  return copy as Readonly<Record<string, unknown>>;
}
