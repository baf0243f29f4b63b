import type { AssistantData } from '../assistant/budgets.ts';

/** How a change of a file is marked. */
export const MARKS = { add: '+', modify: '~', delete: '-', rename: '>' } as const;

/** What `claw status` found, as its result carries it. */
export type StatusData = {
  readonly initialised: boolean;
  readonly core: { readonly version: string | null; readonly from: string } | null;
  /** What the first command would take, where nothing is installed yet. */
  readonly release?: { readonly version: string | null; readonly from: string };
  readonly layers: readonly {
    readonly name: string;
    readonly version: string;
    readonly kind: 'skill' | 'customisation';
    readonly changesNothing: boolean;
  }[];
  readonly edits: readonly { readonly path: string; readonly kind: keyof typeof MARKS }[];
  /** npm packages that a command passed over, until they are installed. */
  readonly lackingPackages?: readonly string[];
  readonly pending: { readonly verb: string; readonly arguments: readonly string[] } | null;
  readonly assistant?: AssistantData;
};

/** More than these are not somebody's edits of an evening. */
const LISTED_EDITS = 20;

/** What is installed, what is edited, what waits. */
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
      'Nothing is installed here yet: `claw apply <skill>` begins.',
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

/** What `claw list` found. */
export type ListEntry = {
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  readonly applied?: boolean;
  readonly kind?: 'customisation';
};

/** One line for each skill. */
export function listLines(entries: readonly ListEntry[]): readonly string[] {
  if (entries.length === 0) return ['None.'];
  return entries.map(({ name, version, description, applied, kind }) => {
    if (kind === 'customisation') return `${name}  (yours)`;
    const mark = applied ? ' (applied)' : '';
    return `${name} ${version}${mark}${description ? `  ${description}` : ''}`;
  });
}
