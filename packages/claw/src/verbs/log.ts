import { type DataOf, resultOf, type VerbResult } from '../contract/result.ts';
import { stateDigest } from '../installed/state-file.ts';
import type { EngineContext } from '../operation/context.ts';
import { listRecords, type TransactionRecord } from '../transaction/records.ts';
import { fileLine } from './print-changes.ts';

/** Lists the commands that `undo` can take back, newest first. */
export function log({ root }: EngineContext): VerbResult<'log'> {
  const records = listRecords(root);
  const data = records.map((record) => ({
    id: record.id,
    time: record.committedAt,
    verb: record.verb,
    summary: record.summary,
    skills: skillsOf(record),
    files: record.files
      .filter(({ path }) => !path.startsWith('.claw/'))
      .map(({ path, kind }) => ({ path, kind })),
  }));
  const [newest] = records;
  const isOther = newest !== undefined && newest.stateAfter !== stateDigest(root);
  const warnings = isOther
    ? [
        `.claw/state.yaml is not what "${newest.summary}" left, so undo refuses here: switch back to the branch that it ran on.`,
      ]
    : [];
  return resultOf('log', data.length === 0 ? 'nothing' : 'done', { data, warnings });
}

/** Returns the skills whose kept packages a command wrote or deleted. */
function skillsOf({ files }: TransactionRecord): readonly string[] {
  const names = files.flatMap(
    ({ path }) => /^\.claw\/(?:packages|custom)\/([a-z0-9-]+)/.exec(path)?.[1] ?? [],
  );
  return [...new Set(names)].sort();
}

/** Files that are named for each command; `--json` has all. */
const SHOWN_FILES = 5;

/** Returns the lines of `claw log`. */
export function logLines(entries: DataOf<'log'>): readonly string[] {
  if (entries.length === 0) return ['There is nothing to undo.'];
  return [
    ...entries.flatMap(({ time, verb, summary, skills, files }) => [
      `${time.slice(0, 16).replace('T', ' ')} UTC  ${summary}${namesOf(verb, summary, skills)}  ${counted(files.length)}`,
      ...files.slice(0, SHOWN_FILES).map(fileLine),
      ...(files.length > SHOWN_FILES ? [`  and ${files.length - SHOWN_FILES} more`] : []),
    ]),
    '`claw undo` takes back the first of these.',
  ];
}

/** Names the skills that the command line itself does not name. */
function namesOf(verb: string, summary: string, skills: readonly string[]): string {
  const words = summary.split(' ');
  const others = skills.filter((name) => !words.includes(name));
  return others.length === 0 || verb === 'undo' ? '' : `  (${others.join(', ')})`;
}

function counted(count: number): string {
  if (count === 0) return 'no file of the project';
  return count === 1 ? '1 file' : `${count} files`;
}
