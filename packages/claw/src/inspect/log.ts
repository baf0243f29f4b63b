import { resultOf, type VerbResult } from '../contract/result.ts';
import { stateDigest } from '../installed/state-file.ts';
import type { EngineContext } from '../operation/context.ts';
import { listRecords, type TransactionRecord } from '../transaction/records.ts';

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
