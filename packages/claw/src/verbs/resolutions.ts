import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type DataOf, resultOf, type VerbResult } from '../contract/result.ts';
import { digestBytes } from '../digest.ts';
import { ClawError } from '../errors.ts';
import { readTreeFile } from '../installed/disk.ts';
import { readResolutions, resolutionPath } from '../installed/resolution-file.ts';
import { readState, renderState, STATE_PATH } from '../installed/state-file.ts';
import type { EngineContext } from '../operation/context.ts';
import { stepOf } from '../operation/state-steps.ts';
import { commitSteps } from '../transaction/commit.ts';
import { byWhom } from './conflicts/print.ts';

/** Returns every recorded resolution: its subject, its origin, and whether the present tree uses it. */
export function listResolutions({ root }: EngineContext): VerbResult<'resolutions'> {
  const state = readState(root);
  const data = readResolutions(root, state).map(({ key, subject, answer, origin, isOwn }) => ({
    key,
    path: subject.path,
    kind: subject.kind,
    layers: subject.layers,
    answer: answer.kind,
    origin,
    own: isOwn,
    used: state?.resolutions.get(key)?.used ?? false,
  }));
  return resultOf('resolutions', 'done', { data });
}

/**
 * Forgets a recording. The tree stays as it is; the next command that needs it asks again.
 *
 * @throws ClawError USAGE for a key that there is not
 */
export function forgetResolution(
  { root, now }: EngineContext,
  key: string,
): VerbResult<'resolutions'> {
  const path = /^[0-9a-f]{16}$/.test(key) ? resolutionPath(key) : null;
  const file = path && readTreeFile(root, path);
  const state = readState(root);
  if (path === null || (file === null && state?.resolutions.has(key) !== true)) {
    throw new ClawError('USAGE', `There is no recording ${key}: claw resolutions lists them.`);
  }
  if (state === null) {
    rmSync(join(root, path), { force: true });
    return resultOf('resolutions', 'done', { data: { forgotten: key } });
  }
  const resolutions = new Map(state.resolutions);
  resolutions.delete(key);
  const bytes = renderState({ ...state, resolutions });
  const before = readTreeFile(root, STATE_PATH);
  const after = { bytes, isExecutable: false };
  commitSteps(
    root,
    {
      verb: 'resolutions',
      summary: `resolutions forget ${key}`,
      steps: [
        ...(file ? [stepOf(path, file, null)] : []),
        ...(before?.bytes.equals(bytes) ? [] : [stepOf(STATE_PATH, before, after)]),
      ],
      stateBefore: state.digest,
      stateAfter: digestBytes(bytes),
    },
    { now },
  );
  return resultOf('resolutions', 'done', { data: { forgotten: key } });
}

/** Returns the recorded resolutions, or the one that was forgotten. */
export function recordingLines(data: DataOf<'resolutions'>): readonly string[] {
  if ('forgotten' in data) {
    return [`Forgotten: ${data.forgotten}. The tree stays; the next command that needs it asks.`];
  }
  if (data.length === 0) return ['None.'];
  return data.map(({ key, path, layers, origin, own, used }) => {
    const notes = [
      `by ${byWhom(origin)}`,
      ...(own ? [] : ['made elsewhere']),
      used ? 'in use' : 'not in use',
    ];
    return `${key}  ${path}  ${layers.join(' against ')}  (${notes.join(', ')})`;
  });
}
