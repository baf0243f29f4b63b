import { namesOfReleases } from '../../contract/changing-verbs.ts';
import type { DataOf } from '../../contract/result.ts';

type Customisation = DataOf<'customize' | 'rebase'>['customisation'];

/** Returns lines about an edit that `customize` or `rebase` recorded. */
export function recordedLines(made: Customisation): readonly string[] {
  if (made === null) return ['Nothing to record.'];
  return [`Recorded as ${made.name}, ${counted(made.files.length, 'file')}:`, ...pathsOf(made)];
}

/** Returns lines about an edit that they would record. */
export function plannedRecordLines(made: Customisation): readonly string[] {
  if (made === null) return [];
  const count = counted(made.files.length, 'file');
  return [`This would be recorded as ${made.name}, ${count}:`, ...pathsOf(made)];
}

function pathsOf({ files }: NonNullable<Customisation>): readonly string[] {
  return files.map((file) => `  ${typeof file === 'string' ? file : file.path}`);
}

/** Returns the lines about an update that come before its list of changed files. */
export function updateLines({
  from,
  to,
  files,
  commits,
  affected,
  broughtSkills,
}: DataOf<'update'>): readonly string[] {
  const isThere = files === 0 && from.version === to.version && broughtSkills.length === 0;
  if (isThere) return [`This is core ${to.version ?? 'without a version'} already.`];
  const layers = Object.entries(affected).map(
    ([name, paths]) => `  ${name} works on ${shortened(paths)}`,
  );
  return [
    `Core ${namesOfReleases({ from, to }).join(' → ')}: ${counted(files, 'file')} of it changed.`,
    ...commitLines(commits),
    ...layers,
    ...(broughtSkills.length === 0 ? [] : [`  brings skills/${broughtSkills.join(', skills/')}`]),
  ];
}

/** Returns lines about a stretch of history: so many commits, breaking ones first, and how many more. */
export function commitLines(commits: Commits | null): readonly string[] {
  if (commits === null || commits.count === 0) return [];
  const { count, breaking, shown } = commits;
  const breaks = breaking === 0 ? '' : `, ${breaking} of them breaking`;
  const rest = count - shown.length;
  return [
    `  ${counted(count, 'commit')}${breaks}:`,
    ...shown.map(
      ({ commit, subject, isBreaking }) =>
        `    ${isBreaking ? '! ' : ''}${commit.slice(0, 7)} ${subject}`,
    ),
    ...(rest > 0 ? [`    and ${rest} more`] : []),
  ];
}

type Commits = NonNullable<DataOf<'update'>['commits']>;

function shortened(paths: readonly string[]): string {
  const rest = paths.length - 3;
  return paths.slice(0, 3).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

/** Returns a number with its noun. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
