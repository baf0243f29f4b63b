import { type DataOf, resultOf, type VerbResult } from '../contract/result.ts';
import { readConfig } from '../installed/config.ts';
import { readTreeFile } from '../installed/disk.ts';
import { readBaseDigests } from '../installed/file-digests.ts';
import { listProjectPaths } from '../installed/project-files.ts';
import { findRelease, NO_REQUEST, type Release, takeRelease } from '../installed/release.ts';
import { readState, type State, stateDigest } from '../installed/state-file.ts';
import type { EngineContext } from '../operation/context.ts';
import { type Edit, listEdits } from '../operation/edits.ts';
import { lackingPackages, wasSkipped } from '../operation/npm/packages-lacking.ts';
import { readPending } from '../pending/pending.ts';
import { isGitFolder } from '../repository/git.ts';
import { fileLine } from './print-changes.ts';

/** Reports what is installed, which operation waits, and the owner's edits since. */
export async function status({ root, now }: EngineContext): Promise<VerbResult<'status'>> {
  const state = readState(root);
  const pending = readPending(root);
  if (state === null) {
    const found = await beforeFirst(root, now);
    const data = {
      ...{ initialised: false, state: null, core: null, layers: [], pending },
      ...(found === null ? {} : { release: namedRelease(found.release) }),
      edits: found?.edits ?? [],
    };
    return resultOf('status', 'done', { data });
  }
  const data = {
    initialised: true,
    state: stateDigest(root),
    core: state.core,
    layers: state.layers.map(({ name, kind, version, source, installed, changesNothing }) => ({
      name,
      kind,
      version,
      source,
      installed,
      changesNothing: changesNothing === true,
    })),
    edits: await findEdits(root, state, now),
    // Looked for only where npm was passed over: otherwise they are the owner's to install.
    lackingPackages: wasSkipped(state)
      ? lackingPackages(root, readTreeFile(root, 'package.json'))
      : [],
    pending,
  };
  return resultOf('status', 'done', { data });
}

type BeforeFirst = { readonly release: Release; readonly edits: readonly Edit[] };

/**
 * Returns the release that the first command would take, and the changes on disk since. Null without a git history:
 * then the files on disk are the release.
 */
export async function beforeFirst(root: string, now: () => Date): Promise<BeforeFirst | null> {
  if (!isGitFolder(root)) return null;
  const config = readConfig(root);
  const release = await takeRelease(root, config, NO_REQUEST);
  const published = { release: release.digests.files, files: new Map() };
  const edits = release.from === 'disk' ? [] : await listEdits(root, { config, published, now });
  return { release, edits };
}

function namedRelease({ version, commit, from }: Release) {
  return { version, commit, from };
}

/** Returns the owner's edits: disk against what was published. */
export async function findEdits(
  root: string,
  state: State,
  now: () => Date,
): Promise<readonly Edit[]> {
  const config = readConfig(root);
  // git looks through the folders while we read what we have of our own.
  const listing = listProjectPaths(root, config);
  listing.catch(() => {}); // Told where it is waited for.
  const kept = readBaseDigests(root, state.core);
  const base = kept ?? (await findRelease(root, config, state)).digests;
  const published = { release: base.files, files: state.files };
  return await listEdits(root, { config, published, now, listing });
}

/** The data of `claw status --json` that the program beside the engine adds. */
type AssistantData = { readonly budgets: { readonly summary: string } };

/** The data of `claw status`, with what a program beside the engine adds. */
export type StatusData = DataOf<'status'> & { readonly assistant?: AssistantData };

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
    `release ${core?.version ?? 'without a version'} (${core?.from})`,
    `skills  ${skills || 'none'}`,
    ...(own.length === 0 ? [] : [`yours   ${own.join(', ')}`]),
    ...idleLines(idle),
    ...editLines(edits),
    ...(edits.length > LISTED_EDITS
      ? [
          `  and ${edits.length - LISTED_EDITS} more: claw diff shows them. If you merged another release`,
          '  by hand, record it with claw update HEAD.',
        ]
      : []),
    ...(lackingPackages.length === 0
      ? []
      : [
          `lacks   ${lackingPackages.join(', ')} (--no-install): \`claw replay\` or \`npm install\` installs them`,
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
    `edits   ${edits.length === 0 ? 'none' : `${edits.length} not recorded; claw diff shows ${edits.length === 1 ? 'it' : 'them'}`}`,
    ...edits.slice(0, LISTED_EDITS).map(fileLine),
  ];
}
