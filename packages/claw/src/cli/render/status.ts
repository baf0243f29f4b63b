import type { DataOf } from '../../commands.ts';
import type { CliResult } from '../result.ts';

/** Marks of changed files. */
export const MARKS = { add: '+', modify: '~', delete: '-', rename: '>' } as const;

type StatusData = NonNullable<CliResult<'status'>['data']>;

/** More edits than this are summed up instead of listed. */
const LISTED_EDITS = 20;

/** Returns lines about the installed layers, edits, and the operation that waits. */
export function statusLines({
  initialised,
  core,
  release,
  layers,
  edits,
  lackingPackages = [],
  pending,
  assistant,
}: StatusData): readonly string[] {
  const waiting = pending
    ? [`waits   ${[pending.verb, ...pending.arguments].join(' ')} (claw conflicts says for what)`]
    : [];
  const spent = assistant ? [`budget  ${assistant.budgets.summary}`] : [];
  if (!initialised) {
    return [
      'No skills yet. Add one: `claw apply <skill>`',
      ...(release ? [`release ${release.version ?? 'without a version'} (${release.from})`] : []),
      ...(release ? editLines(edits) : []),
      ...(edits.length > LISTED_EDITS ? [`  and ${edits.length - LISTED_EDITS} more`] : []),
      ...spent,
      ...waiting,
    ];
  }
  const own = layers.filter(({ kind }) => kind === 'customisation').map(({ name }) => name);
  const skills = layers
    .filter(({ kind }) => kind === 'skill')
    .map(({ name, version }) => `${name} ${version}`)
    .join(', ');
  const idle = layers.filter(({ changesNothing }) => changesNothing).map(({ name }) => name);
  return [
    `core    ${core?.version ?? 'without a version'} (${core?.from})`,
    `skills  ${skills || 'none'}`,
    ...(own.length === 0 ? [] : [`yours   ${own.join(', ')}`]),
    ...idleLines(idle),
    ...editLines(edits),
    ...(edits.length > LISTED_EDITS
      ? [
          `  and ${edits.length - LISTED_EDITS} more: claw diff shows them. Where another core was merged in`,
          '  by hand, claw update HEAD makes it known.',
        ]
      : []),
    ...(lackingPackages.length === 0
      ? []
      : [
          `lacks   ${lackingPackages.join(', ')} (--no-install): \`claw replay\` or \`npm install\` makes it good`,
        ]),
    ...spent,
    ...waiting,
  ];
}

/** Layers that could go, and nothing with them. */
function idleLines(idle: readonly string[]): readonly string[] {
  if (idle.length === 0) return [];
  const which = idle.length === 1 ? 'it' : 'any one of them';
  return [
    `idle    ${idle.join(', ')}: nothing would change without ${which};`,
    '        claw remove takes a skill out',
  ];
}

function editLines(edits: StatusData['edits']): readonly string[] {
  return [
    `edits   ${edits.length === 0 ? 'none' : `${edits.length} not recorded`}`,
    ...edits.slice(0, LISTED_EDITS).map(({ path, kind }) => `  ${MARKS[kind]} ${path}`),
  ];
}

/** Returns one line for each skill. */
export function listLines(entries: DataOf<'list'>): readonly string[] {
  if (entries.length === 0) return ['None.'];
  return entries.map((entry) => {
    const { name, version } = entry;
    if (!('description' in entry)) {
      return entry.kind === 'customisation' ? `${name}  (yours)` : `${name} ${version}`;
    }
    const { description, applied } = entry;
    return `${name} ${version}${applied ? ' (applied)' : ''}${description ? `  ${description}` : ''}`;
  });
}
