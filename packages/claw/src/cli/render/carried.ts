import type { DataOf } from '../../commands.ts';
import { adoptLines } from './adopt.ts';
import { broughtBy, changeLines, NO_FILE, type Shown } from './changes.ts';
import { plannedRecordLines, recordedLines, updateLines } from './layers.ts';
import { packLines } from './pack.ts';
import { MARKS } from './status.ts';

/** Data of a verb that changes the tree, with the verb's name. */
export type Carried = DataOf<'continue'>;

/** Returns lines about a verb that changed the tree, or about the reason why it is blocked. */
export function carriedLines(result: Shown, data: Carried): readonly string[] {
  const isBlocked = result.outcome === 'blocked';
  switch (data.verb) {
    case 'customize':
    case 'rebase':
      return isBlocked ? changeLines(result, data) : recordedLines(data.customisation);
    case 'pack':
      return [...changeLines(result, data), ...packLines(data)];
    case 'update':
      return [
        ...updateLines(data),
        ...changeLines(result, data),
        ...(isBlocked ? [] : gitLines(data.gitMerge)),
      ];
    case 'undo': {
      if (isBlocked) return changeLines(result);
      // The first line says the cause, which is the same for all files.
      const files = result.changes.map(({ path, kind }) => `  ${MARKS[kind]} ${path}`);
      return [`Taken back: ${data.undone}.${files.length === 0 ? ` ${NO_FILE}` : ''}`, ...files];
    }
    default:
      return changeLines(result, data);
  }
}

/** Returns what to do so that git, and a page such as GitHub's, count from the release as well. */
function gitLines(commit: string | null): readonly string[] {
  if (commit === null) return [];
  const name = commit.slice(0, 12);
  return [
    'git does not know of this merge. Once you have committed it, this makes it known:',
    `  git merge --strategy ours ${name}`,
  ];
}

/** Returns lines about the changes that such a verb would make. */
export function planLines(result: Shown, data: DataOf<'plan'>): readonly string[] {
  if (data.verb === 'adopt') return adoptLines(result, data);
  const isRecorded = data.verb === 'customize' || data.verb === 'rebase';
  return [
    ...(data.verb === 'update' ? updateLines(data) : []),
    ...changeLines(result, broughtBy(data)),
    ...(isRecorded && result.outcome !== 'blocked' ? plannedRecordLines(data.customisation) : []),
    ...(data.verb === 'pack' ? packLines(data) : []),
  ];
}

/** Returns lines about a trial by `claw continue --prove`. */
export function trialLines(result: Shown, data: Carried): readonly string[] {
  const proof = 'proof' in data ? data.proof : undefined;
  const { checks = 0, tests = 0 } = proof ?? {};
  const ran = checks + tests === 0 ? 'There was nothing to run' : 'Checks and tests pass';
  const files = changeLines({ ...result, verb: 'plan' }, broughtBy(data));
  return [`${ran}; \`claw continue\` carries it out.`, ...files];
}
