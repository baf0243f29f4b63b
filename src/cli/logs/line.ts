import { z } from 'zod';
import { LEVELS } from './arguments.ts';

/** One line of the logs. A line that is not JSON, such as the output of a crash, is kept as it is. */
export type LogLine = {
  readonly raw: string;
  readonly time: number | null;
  readonly level: number;
  readonly group: string | null;
  readonly fields: Readonly<Record<string, unknown>> | null;
};

/** A filter of lines; null means any. */
export type LineFilter = {
  readonly group: string | null;
  readonly level: number;
  readonly since: number | null;
};

const Fields = z.looseObject({
  level: z.number().default(LEVELS.info),
  time: z.number().optional(),
  group: z.string().optional(),
});

export function parseLine(raw: string): LogLine {
  const fields = Fields.safeParse(parseJson(raw)).data ?? null;
  if (fields === null) return { raw, time: null, level: LEVELS.error, group: null, fields };
  const { level, time = null, group = null } = fields;
  return { raw, time, level, group, fields };
}

export function isWanted({ group, level, time }: LogLine, wanted: LineFilter): boolean {
  if (wanted.group !== null && group !== wanted.group) return false;
  if (wanted.since !== null && time !== null && time < wanted.since) return false;
  return level >= wanted.level;
}

/** Sorts lines of several files by time; a line without a time stays after its predecessor. */
export function inOrder(files: readonly (readonly LogLine[])[]): readonly LogLine[] {
  const timed = files.flatMap((lines) => {
    let last = 0;
    return lines.map((line) => {
      last = line.time ?? last;
      return { line, time: last };
    });
  });
  return timed.sort((one, other) => one.time - other.time).map(({ line }) => line);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // Printed as it is.
  }
}
