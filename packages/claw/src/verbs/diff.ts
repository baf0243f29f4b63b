import { isSameFile, unifiedPatch } from '@patchclaw/merge';
import { layerChanges } from '../compose/blame/layer-changes.ts';
import type { FileChange } from '../compose/plan.ts';
import { OWNER } from '../conflict.ts';
import { type ChangeKind, resultOf, type VerbResult } from '../contract/result.ts';
import { readTreeFile } from '../installed/disk.ts';
import { type Installation, requireState } from '../installed/installation.ts';
import { readState } from '../installed/state-file.ts';
import type { EngineContext } from '../operation/context.ts';
import { requireApplied } from '../operation/layers.ts';
import { type Colour, painted, type Screen, shown } from '../text/screen.ts';
import { beforeFirst, findEdits } from './status.ts';
import { accountFor, requireInstallation } from './why/ownership.ts';

/** One changed file; `patch` is what `git apply` takes. */
type FileDiff = {
  readonly path: string;
  readonly kind: ChangeKind;
  readonly patch: string;
  readonly added: number;
  readonly removed: number;
};

/**
 * Shows a layer's changes in this composition; without a name, the owner's edits since the last command, or on the
 * release before the first one.
 * `data` is `{ layer, files }`.
 *
 * @throws ClawError NOT_INITIALISED, SKILL_NOT_APPLIED
 */
export async function diff(
  context: EngineContext,
  name: string | null,
): Promise<VerbResult<'diff'>> {
  const { changes, warnings } =
    name === null
      ? { changes: await ownerChanges(context), warnings: [] }
      : changesOf(await requireInstallation(context.root), name);
  const files = patchesOf(changes);
  const outcome = files.length === 0 ? 'nothing' : 'done';
  return resultOf('diff', outcome, { data: { layer: name ?? OWNER, files }, warnings });
}

/** Writes changes as patches. */
export function patchesOf(changes: readonly FileChange[]): FileDiff[] {
  return changes.map((change) => ({
    path: change.path,
    kind: kindOf(change),
    ...unifiedPatch(change),
  }));
}

async function ownerChanges({ root, now }: EngineContext): Promise<readonly FileChange[]> {
  const { edits, publishedFile } = await editsOnPublished(root, now);
  return edits.map(({ path, kind }) => ({
    path,
    before: kind === 'add' ? null : publishedFile(path),
    after: kind === 'delete' ? null : readTreeFile(root, path),
    movedFrom: null,
  }));
}

/** Returns the owner's edits and the files that they edit: before the first command, those of the release in git. */
async function editsOnPublished(root: string, now: () => Date) {
  const first = readState(root) === null ? await beforeFirst(root, now) : null;
  if (first !== null) {
    const { files } = first.release;
    return { edits: first.edits, publishedFile: (path: string) => files.get(path) ?? null };
  }
  const installation = await requireInstallation(root);
  const edits = await findEdits(root, requireState(installation), now);
  return { edits, publishedFile: installation.publishedFile };
}

function changesOf(
  installation: Installation,
  name: string,
): { readonly changes: readonly FileChange[]; readonly warnings: readonly string[] } {
  requireApplied(requireState(installation), name);
  const { composition, layers } = accountFor(installation);
  const layer = layers.find(({ manifest }) => manifest.skill === name);
  if (layer === undefined) return { changes: [], warnings: [] };
  const { releaseFile, publishedFile, pathMaps, resolutions } = installation;
  const answers = { decisions: [], resolutions };
  const input = { release: releaseFile, layers, answers, pathMaps };
  const changes = layerChanges(input, composition, layer);
  const other = changes.filter(({ path }) => {
    const composed = composition.files.get(path)?.file ?? null;
    return !isSameFile(publishedFile(path), composed);
  });
  const warnings = other.map(({ path }) => `${path} is not what this version of claw composes.`);
  return { changes, warnings };
}

function kindOf({ before, after, movedFrom }: FileChange): ChangeKind {
  if (movedFrom !== null) return 'rename';
  if (before === null) return 'add';
  return after === null ? 'delete' : 'modify';
}

/** Patches of some files. */
type Patches = { readonly files: readonly { readonly patch: string }[] };

/** Returns the patches, to the byte if they are piped. */
export function diffLines({ files }: Patches, screen: Screen): readonly string[] {
  const text = files.map(({ patch }) => patch).join('');
  if (text === '') return [];
  const lines = text.replace(/\n$/, '').split('\n');
  if (screen.columns === null) return lines;
  let isHead = true;
  return lines.map((line) => {
    if (line.startsWith('diff --git ')) isHead = true;
    if (line.startsWith('@@ ')) isHead = false;
    return paintedLine(shown(line.replace(/\r$/, ''), screen), isHead, screen);
  });
}

function paintedLine(line: string, isHead: boolean, screen: Screen): string {
  const colour = isHead ? 'dim' : COLOURS[line[0] ?? ''];
  return colour === undefined ? line : painted(line, colour, screen);
}

const COLOURS: Readonly<Record<string, Colour>> = { '+': 'green', '-': 'red', '@': 'cyan' };
