import type { VerbResult } from '@patchclaw/claw/cli';
import { dataDirOf, environmentOf } from '../environment.ts';
import { isAssistantRunning } from './running.ts';

/** Files that a running assistant has loaded, or keeps in a container. */
const LOADED = /^(src|container|node_modules)\/|^package(-lock)?\.json$/;

/** Adds to the result of a change that the running assistant, if there is one, still runs the code from before. */
export async function withRestartHint(result: VerbResult, root: string): Promise<VerbResult> {
  const isDone = result.outcome === 'done' && result.verb !== 'plan';
  if (!isDone || !result.changes.some(({ path }) => LOADED.test(path))) return result;
  if (!(await isAssistantRunning(dataDirOf(environmentOf(root), root)))) return result;
  const hint =
    'The running assistant still runs the code from before. Say `/restart` in your own chat with it, or: ' +
    'npx claw chat /restart';
  return { ...result, warnings: [...result.warnings, hint] };
}
