import type { EngineContext, VerbResult } from '../engine/index.ts';
import * as engine from '../engine/index.ts';

export async function askAboutConflicts(
  context: EngineContext,
  path: string | null,
): Promise<VerbResult> {
  return await engine.resolve(context, path ?? '', { kind: 'edited' });
}
