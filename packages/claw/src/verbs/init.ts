import { ClawError } from '../errors.ts';
import { readInstallation } from '../installed/installation.ts';
import type { ReleaseRequest } from '../installed/release.ts';
import type { EngineContext } from '../operation/context.ts';
import { pinning } from '../operation/layers.ts';
import type { Operation } from '../operation/planned-operation.ts';
import { planLayers } from '../operation/planned-tree/planned-tree.ts';

/**
 * Plans taking the core: no layer, no change of the tree; everything is written below `.claw/`.
 *
 * @throws ClawError ALREADY_INITIALISED
 */
export async function planInit(
  context: EngineContext,
  request: ReleaseRequest,
): Promise<Operation<'init'>> {
  const installation = await readInstallation(context.root, { request });
  if (installation.state !== null) {
    throw new ClawError(
      'ALREADY_INITIALISED',
      'The release is recorded already (.claw/state.yaml). `claw update` moves to another one.',
    );
  }
  return {
    verb: 'init',
    arguments: [],
    installation,
    installed: [],
    plan: planLayers({ installation, installed: [], wanted: [] }),
    pin: pinning(null, new Map(), context.now()),
    warnings: [],
    data: {},
  };
}
