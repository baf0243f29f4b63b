import type { DataOf } from '../../contract/result.ts';
import { shellWord } from '../../errors.ts';
import type { ShownResult } from '../print-changes.ts';
import { commitLines, counted } from '../update/print.ts';

type Data = DataOf<'adopt'>;
type Next = NonNullable<Data['next']>;

/** So many files are named one by one. */
const FEW = 10;

/** Returns lines about setting up a fork: what is the owner's, how it is recorded, and what comes next. */
export function adoptLines({ verb }: Pick<ShownResult, 'verb'>, data: Data): readonly string[] {
  const isPlan = verb === 'plan';
  return [
    ...(data.isAdopted ? adoptedLines(data) : [...ownLines(data), ...recordLines(data, isPlan)]),
    ...privateLines(data.privateFiles),
    ...(isPlan ? [] : remoteLines(data)),
    '',
    ...nextLines(data, isPlan ? 'After that:' : 'Next:'),
  ];
}

function adoptedLines({ base, layers, edits }: Data): readonly string[] {
  const since =
    edits.length === 0
      ? 'You have no edits since.'
      : `You have edits in ${counted(edits.length, 'file')} since; \`claw customize "<what and why>"\` records them.`;
  return [
    'This project is adopted already; nothing was changed.',
    `Its history and upstream's part at ${named(base)}. It has ${counted(layers, 'layer')}. ${since}`,
  ];
}

function ownLines({ base, commits, edits }: Data): readonly string[] {
  const since = `${named(base)} of ${base.date}`;
  if (commits.count === 0 && edits.length === 0)
    return [`You have changed nothing since ${since}.`];
  const files = `edits in ${counted(edits.length, 'file')}`;
  if (commits.count === 0) return [`Since ${since} you have ${files}, none of them committed.`];
  const [, ...subjects] = commitLines({ ...commits, breaking: 0 });
  const verb = commits.count === 1 ? 'is' : 'are';
  return [`Your ${counted(commits.count, 'commit')} since ${since} ${verb} ${files}:`, ...subjects];
}

function named({ version, commit }: Data['base']): string {
  return version === null ? `commit ${commit.slice(0, 9)}` : `${version} (${commit.slice(0, 9)})`;
}

function recordLines({ customisations, unrecorded }: Data, isPlan: boolean): readonly string[] {
  const made = isPlan ? 'They would be recorded as' : 'Recorded as';
  const lines = customisations.map(
    ({ name, files }) => `${name}, ${counted(files.length, 'file')}`,
  );
  const [first, ...others] = lines;
  return [
    ...(first === undefined
      ? []
      : others.length === 0
        ? [`${made} ${first}.`]
        : [
            `${made} ${counted(lines.length, 'customisation')}:`,
            ...lines.map((line) => `  ${line}`),
          ]),
    ...(unrecorded.length === 0
      ? []
      : [
          `Not recorded, and still your edits: ${counted(unrecorded.length, 'file')}:`,
          ...few(unrecorded.map(({ path, why }) => `  ${path}: ${why}`)),
        ]),
  ];
}

function privateLines(files: readonly string[]): readonly string[] {
  if (files.length === 0) return [];
  return [
    `Updates leave ${counted(files.length, 'file')} of the release as you have them, in folders that claw.config.yaml calls private:`,
    ...few(files.map((path) => `  ${path}`)),
  ];
}

function remoteLines({ upstream: { remote, isNewRemote } }: Data): readonly string[] {
  return isNewRemote && remote !== null
    ? [
        `The remote ${remote} was added. \`git fetch ${shellWord(remote)}\` brings what is new there.`,
      ]
    : [];
}

function nextLines({ upstream, next, command }: Data, then: string): readonly string[] {
  if (next === null) {
    return [
      `You have everything of ${upstream.ref}. When it has something new:`,
      `  ${fetchOf(upstream)}${command}`,
    ];
  }
  const [head = '', ...commits] = commitLines(next.commits);
  const version = upstream.version === null ? '' : ` (${upstream.version})`;
  return [
    `The next update brings ${upstream.ref}${version}: ${head.trim()}`,
    ...commits,
    ...(next.problem === null ? effectLines(next) : [`It cannot be planned yet: ${next.problem}`]),
    then,
    `  ${command}`,
  ];
}

function fetchOf({ remote }: Data['upstream']): string {
  return remote === null ? '' : `git fetch ${shellWord(remote)} && `;
}

function effectLines({ files, changedByBoth, conflicts, consent }: Next): readonly string[] {
  const paths = new Set(conflicts.map(({ path }) => path.replace(/#.*$/, '')));
  const places = conflicts.reduce((sum, conflict) => sum + conflict.places, 0);
  const both = `It changes ${counted(files, 'file')}. You have changed ${changedByBoth.length} of them as well`;
  const asks =
    conflicts.length === 0
      ? ['It asks about nothing.']
      : [
          `It will ask you about ${counted(paths.size, 'file')} (${counted(places, 'place')}):`,
          ...few(conflicts.map((one) => `  ! ${one.path}, ${counted(one.places, 'place')}`)),
        ];
  return [`${both}.`, ...asks, ...consentLines(consent)];
}

function consentLines(consent: Next['consent']): readonly string[] {
  if (consent.length === 0) return [];
  return [
    'It changes files that can run code or configure tools. What you allow here is in the command below:',
    ...consent.map(
      ({ allow, files, isAllowed }) =>
        `  ${allow}${files === 1 && !allow.endsWith('/') ? '' : `, ${counted(files, 'file')}`}${isAllowed ? '' : ' (not allowed)'}`,
    ),
  ];
}

function few(lines: readonly string[]): readonly string[] {
  const rest = lines.length - FEW;
  return rest > 0 ? [...lines.slice(0, FEW), `  and ${rest} more`] : lines;
}
