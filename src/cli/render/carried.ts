import type { DataOf } from '../../engine/commands.ts';
import { broughtBy, changeLines, NO_FILE, type Shown } from './changes.ts';
import { plannedRecordLines, recordedLines, updateLines } from './layers.ts';
import { packLines } from './pack.ts';

/** Data of a verb that changes the tree, with the verb's name. */
export type Carried = DataOf<'continue'>;

/** What a verb did that changes the tree, or why it is blocked. */
export function carriedLines(result: Shown, data: Carried): readonly string[] {
  const isBlocked = result.outcome === 'blocked';
  switch (data.verb) {
    case 'customize':
    case 'rebase':
      return isBlocked ? changeLines(result, data) : recordedLines(data.customisation);
    case 'pack':
      return [...changeLines(result, data), ...packLines(data)];
    case 'update':
      return [...updateLines(data), ...changeLines(result, data)];
    case 'undo': {
      if (isBlocked) return changeLines(result);
      const [, ...files] = changeLines(result);
      return [`Taken back: ${data.undone}.${files.length === 0 ? ` ${NO_FILE}` : ''}`, ...files];
    }
    default:
      return changeLines(result, data);
  }
}

/** What such a verb would do. */
export function planLines(result: Shown, data: DataOf<'plan'>): readonly string[] {
  const isRecorded = data.verb === 'customize' || data.verb === 'rebase';
  return [
    ...(data.verb === 'update' ? updateLines(data) : []),
    ...changeLines(result, broughtBy(data)),
    ...(isRecorded && result.outcome !== 'blocked' ? plannedRecordLines(data.customisation) : []),
    ...(data.verb === 'pack' ? packLines(data) : []),
  ];
}

/** What `claw continue --prove` found. */
export function trialLines(result: Shown, data: Carried): readonly string[] {
  const proof = 'proof' in data ? data.proof : undefined;
  const { checks = 0, tests = 0 } = proof ?? {};
  const ran = checks + tests === 0 ? 'There was nothing to run' : 'Checks and tests pass';
  const files = changeLines({ ...result, verb: 'plan' }, broughtBy(data));
  return [`${ran}; \`claw continue\` carries it out.`, ...files];
}
