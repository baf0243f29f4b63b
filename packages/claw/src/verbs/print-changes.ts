import type { DataOf, ResultWith } from '../contract/result.ts';
import { escapeOf } from '../text/visible-text.ts';
import { movedLines, WAYS_ON } from './conflicts/print.ts';

/** Marks of changed files. */
const MARKS = { add: '+', modify: '~', delete: '-', rename: '>' } as const;

/** Returns the line of a changed file; a name that has line ends in it stays on its line. */
export function fileLine({ path, kind }: { path: string; kind: keyof typeof MARKS }): string {
  return `  ${MARKS[kind]} ${path.replace(/[\n\t]/g, escapeOf)}`;
}

/** A result as far as its lines on files need it. */
export type ShownResult = Pick<
  ResultWith<string, unknown>,
  'verb' | 'outcome' | 'changes' | 'conflicts'
>;

/** Things that a command brings besides its files. */
export type BroughtExtras = Partial<
  Pick<DataOf<'apply'>, 'sources' | 'packages' | 'settings' | 'settingsGone' | 'proof'>
>;

/** Returns the part of a result that says what the command brings. */
export function broughtBy(data: DataOf<'plan' | 'continue' | 'dev'>): BroughtExtras {
  return 'sources' in data ? data : {};
}

/** Returns lines about each file that changed or would change, and about everything that comes with it. */
export function changeLines(result: ShownResult, brought: BroughtExtras = {}): readonly string[] {
  const { sources = [], packages = [], settings = [], settingsGone = [], proof } = brought;
  const files = result.changes.map((change) => `${fileLine(change)}  (${change.cause})`);
  const extras = [
    ...sources.flatMap(sourceLine),
    ...(packages.length > 0 ? [`  packages: ${packages.join(', ')}`] : []),
    ...(settings.length > 0 ? [`  settings: ${settings.join(', ')}`] : []),
    ...(settingsGone.length > 0 ? [`  settings no longer read: ${settingsGone.join(', ')}`] : []),
    ...(proof?.note ? [`  proof: ${proof.note}`] : []),
  ];
  if (result.outcome !== 'blocked') return [headline(result, sources), ...files, ...extras];
  const rest = files.length === 0 ? [] : ['All else that it would change:', ...files, ...extras];
  return [headline(result), ...conflictLines(result), ...(result.verb === 'plan' ? rest : [])];
}

/** Returns a line on the source of a skill; none for a skill of the project's own. */
function sourceLine({
  name,
  version,
  source,
  commit,
}: DataOf<'apply'>['sources'][number]): readonly string[] {
  if (source === name) return [];
  const at = commit ? ` (commit ${commit.slice(0, 7)})` : '';
  return [`  from: ${name} ${version} out of ${source}${at}`];
}

/** Returns the line that says what a command did, and with which skills. */
export function headline(
  { verb, outcome, changes, conflicts }: ShownResult,
  sources: BroughtExtras['sources'] = [],
): string {
  const count = `${changes.length} ${changes.length === 1 ? 'file' : 'files'}`;
  if (outcome === 'nothing') return 'Nothing to do.';
  if (outcome === 'blocked') {
    return `Blocked by ${conflicts.length} ${conflicts.length === 1 ? 'conflict' : 'conflicts'}; the tree is as it was.`;
  }
  if (verb === 'plan') return changes.length === 0 ? NO_FILE : `This would change ${count}:`;
  const isNamed = verb === 'apply' || verb === 'upgrade';
  const skills = (isNamed ? sources : [])
    .map(({ name, version }) => `${name} ${version}`)
    .join(', ');
  const what = skills === '' ? verb : `${verb} of ${skills}`;
  return changes.length === 0 ? `Done: ${what}. ${NO_FILE}` : `Done: ${what} changed ${count}.`;
}

/** A notice for commands that change only files below `.claw/`. */
export const NO_FILE = 'No project file had to change.';

function conflictLines({ conflicts, verb }: ShownResult): readonly string[] {
  const lines = conflicts.flatMap((conflict) => {
    const { path, kind, layers, reason, hunks } = conflict;
    const count = hunks.filter((hunk) => hunk.kind === 'conflict').length;
    const where = verb === 'plan' || count === 0 ? '' : `\n    see .claw/pending/${path}`;
    return [
      `  ! ${path}  ${kind}, ${layers.join(' against ')}`,
      `    ${reason}${where}`,
      ...movedLines(conflict, verb === 'plan'),
    ];
  });
  return [...lines, ...(verb === 'plan' ? [] : WAYS_ON)];
}
