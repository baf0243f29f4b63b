import { statSync } from 'node:fs';
import { relative } from 'node:path';
import { findExposed } from '../supervisor/private-data.ts';
import { type Examination, type Finding, ok, problem, type Subject } from './examination.ts';
import { folderBytes, freeBytes, LEAST_FREE, sizeText } from './size.ts';

const AREA = 'data';

/** The data folder: its size, the room that is left, and who can look into it. */
export const examination: Examination = {
  area: AREA,
  order: 50,
  async examine(subject) {
    const { dataDir } = subject;
    const found = statSync(dataDir, { throwIfNoEntry: false });
    if (found === undefined) return [ok(AREA, `${dataDir} is made at the first start`)];
    return [room(subject), ...ownership(subject, found.uid), ...exposure(subject)];
  },
};

function room({ dataDir }: Subject): Finding {
  const free = freeBytes(dataDir);
  const message = `${sizeText(folderBytes(dataDir))} in ${dataDir}, ${sizeText(free)} free`;
  if (free >= LEAST_FREE) return ok(AREA, message);
  return problem(
    AREA,
    `${message}.`,
    'Free some space: while the disk is full, no message is accepted.',
  );
}

function ownership({ dataDir }: Subject, uid: number): readonly Finding[] {
  const own = process.getuid?.();
  if (own === undefined || own === 0 || own === uid) return [];
  return [problem(AREA, `${dataDir} belongs to another user.`, `sudo chown -R "$USER" ${dataDir}`)];
}

function exposure({ projectDir, dataDir }: Subject): readonly Finding[] {
  const exposed = findExposed({ projectDir, dataDir });
  const [first] = exposed;
  if (first === undefined) return [];
  const name = relative(dataDir, first.path) || 'it';
  const more = exposed.length === 1 ? '' : ` and ${exposed.length - 1} more`;
  const modes = [...new Set(exposed.map(({ wanted }) => wanted))];
  const commands = modes.map((mode) => {
    const paths = exposed.filter(({ wanted }) => wanted === mode).map(({ path }) => path);
    return `chmod ${mode.toString(8)} ${paths.join(' ')}`;
  });
  const message = `others on this machine can look into ${name}${more}`;
  return [ok(AREA, message, `The next start closes them, or: ${commands.join('; ')}`)];
}
