import { changedLines, changesLineEnds, isSameFile, type TreeFile } from '@patchclaw/merge';
import { touchedOwners } from '../compose/blame/blame.ts';
import { type DataOf, resultOf, type VerbResult } from '../contract/result.ts';
import { ClawError } from '../errors.ts';
import { BASE } from '../installed/claw-folder.ts';
import { readTreeFile } from '../installed/disk.ts';
import { digestBase } from '../installed/file-digests.ts';
import { readInstallation, requireState } from '../installed/installation.ts';
import { resolutionPath } from '../installed/resolution-file.ts';
import type { EngineContext } from '../operation/context.ts';
import { findEdits } from './status.ts';
import { accountFor, blamePublished, describeOwner } from './why/ownership.ts';

/** Lines of a file that differ from what was published, 1-based and inclusive. */
type Difference = {
  readonly path: string;
  readonly owner: string;
  readonly kind: 'add' | 'modify' | 'delete';
  readonly lines: readonly (readonly [from: number, to: number])[];
  /** Other differences: the ends of otherwise equal lines, the right to execute. */
  readonly form: readonly ('line-ends' | 'mode')[];
  /** Owners of the lines that the edit replaces, takes out or is inserted between. */
  readonly touches: readonly string[];
};

/**
 * Compares disk, state and composition.
 *
 * `data.edits` are the owner's lines; `data.damaged` names files of `.claw/` that are not what
 * `state.yaml` pins; `data.recomposed` what this engine would compose otherwise than was published.
 * Fails when something is damaged.
 */
export async function verify(context: EngineContext): Promise<VerbResult<'verify'>> {
  const { root, now } = context;
  const installation = await readInstallation(root, { base: digestBase });
  const state = requireState(installation);
  const isBaseWhole = installation.taken === null;
  const damaged = isBaseWhole ? [] : [BASE];
  const edits = isBaseWhole ? await findEdits(root, state, now) : [];
  const account = accountFor(installation);
  const { composition } = account;
  const touchesOf = (path: string, disk: TreeFile | null): readonly string[] => {
    const published = blamePublished(installation, path, () => account);
    const touched = touchedOwners(published, disk);
    return [
      ...new Set(touched.map((one) => describeOwner(one, installation, () => account).owner)),
    ];
  };
  const differences: Difference[] = [];
  for (const { path, kind } of edits) {
    const published = kind === 'add' ? null : installation.publishedFile(path);
    // A link may have replaced the file: it is not read.
    const disk = kind === 'delete' ? null : readTreeFile(root, path);
    const lines = changedLines(published?.bytes ?? null, disk?.bytes ?? null);
    const form = published && disk ? changedForm(published, disk) : [];
    const touches = kind === 'add' ? [] : touchesOf(path, disk);
    differences.push({ path, owner: 'your edits', kind, lines, form, touches });
  }
  const recomposed: string[] = [];
  for (const [path, { file }] of composition.files) {
    try {
      if (!isSameFile(installation.publishedFile(path), file)) recomposed.push(path);
    } catch (error) {
      if (!(error instanceof ClawError)) throw error;
      damaged.push(error.path ?? path);
    }
  }
  const recorded = new Set(installation.resolutions.map(({ key }) => key));
  for (const [key, { used }] of state.resolutions) {
    if (used && !recorded.has(key)) damaged.push(resolutionPath(key));
  }
  const data = {
    clean: differences.length + recomposed.length + damaged.length === 0,
    edits: differences,
    recomposed,
    damaged,
  };
  if (damaged.length === 0) return resultOf('verify', 'done', { data });
  const error = new ClawError(
    'DIGEST_MISMATCH',
    `Not what .claw/state.yaml pins: ${damaged.join(', ')}. Restore .claw/ from git.`,
    { path: damaged[0] ?? null },
  );
  return resultOf('verify', 'failed', { data, error });
}

function changedForm(published: TreeFile, disk: TreeFile): Difference['form'] {
  return [
    ...(changesLineEnds(published.bytes, disk.bytes) ? (['line-ends'] as const) : []),
    ...(published.isExecutable === disk.isExecutable ? [] : (['mode'] as const)),
  ];
}

const FORMS = { 'line-ends': 'line ends', mode: 'mode' } as const;

/** Returns lines of the disk that differ from what was published. */
export function verifyLines(data: DataOf<'verify'>): readonly string[] {
  if (data.clean) return ['Disk, state and composition agree.'];
  const edits = data.edits.map(({ path, owner, lines, form, touches }) => {
    const ranges = lines
      .map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`))
      .join(', ');
    const also = form.map((word) => ` (${FORMS[word]})`).join('');
    const others = touches.filter((name) => name !== 'core');
    const whose = others.length === 0 ? '' : `, in lines of ${others.join(', ')}`;
    return `  ${path}${ranges === '' ? '' : `:${ranges}`}${also}  ${owner}${whose}`;
  });
  const recomposed = data.recomposed.map(
    (path) => `  ${path}  this engine would compose it otherwise`,
  );
  const lines = [...edits, ...recomposed];
  return lines.length === 0 ? [] : ['Differs from what was published:', ...lines];
}
