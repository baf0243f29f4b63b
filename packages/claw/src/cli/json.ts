import type { Conflict } from '../commands.ts';
import type { AnyResult } from './result.ts';

/** Returns the one object that `--json` prints, on every exit code. */
export function renderJson(result: AnyResult): string {
  const { verb, outcome, data, changes, conflicts, warnings, error } = result;
  return JSON.stringify({
    ok: error === null && outcome !== 'blocked' && outcome !== 'failed',
    verb,
    outcome,
    data,
    changes,
    conflicts: conflicts.map(conflictJson),
    warnings,
    error: error && {
      code: error.code,
      message: error.message,
      path: error.path,
      data: error.data,
    },
  });
}

function conflictJson({ path, kind, layers, reason, hunks, candidates = [] }: Conflict): object {
  const disagreements = hunks.flatMap((hunk) =>
    hunk.kind === 'conflict'
      ? [{ base: text(hunk.base), ours: text(hunk.ours), theirs: text(hunk.theirs) }]
      : [],
  );
  return { path, kind, layers, reason, hunks: disagreements, candidates };
}

// The merge works on bytes as latin1, so that none is lost; people read them as UTF-8.
function text(lines: readonly string[]): string {
  return Buffer.from(lines.join(''), 'latin1').toString('utf8');
}
