import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestBytes } from '../../digest.ts';
import { ClawError } from '../../errors.ts';
import { BASE, COMPOSED } from '../../installed/claw-folder.ts';
import { parseState, readState, STATE_PATH, type State } from '../../installed/state-file.ts';
import { isGitFolder, runGit } from '../../repository/git.ts';
import { listTransactions } from '../../transaction/records.ts';
import { readJournal } from '../../transaction/recover.js';
import { bad, type Check, type CheckResult, good } from './finding.ts';

/** `.claw/state.yaml`: whether it can be read, and where a good one can be had. */
export const stateFile: Check = { area: 'state', run: ({ root }) => checkState(root) };

async function checkState(root: string): Promise<CheckResult> {
  try {
    const state = readState(root);
    if (state !== null) return good(summaryOf(state));
    const isLost = [BASE, COMPOSED].some((folder) => existsSync(join(root, folder)));
    if (!isLost) return good('nothing is installed here yet');
    return bad(`${STATE_PATH} is gone; what it spoke of is still there.`, await waysBack(root));
  } catch (error) {
    return bad(findFault(root, error), await waysBack(root));
  }
}

function summaryOf({ core, layers }: State): string {
  const skills = `${layers.length} ${layers.length === 1 ? 'layer' : 'layers'}`;
  return `core ${core.version ?? 'without a version'} with ${skills}`;
}

/** Returns line and reason; names git's markers as such, where YAML only sees an odd line. */
function findFault(root: string, error: unknown): string {
  if (!(error instanceof ClawError)) {
    return `${STATE_PATH} cannot be read: ${error instanceof Error ? error.message : error}`;
  }
  const lines = readFileSync(join(root, STATE_PATH), 'utf8').split('\n');
  const marker = lines.findIndex((line) => /^(<{7}|>{7}) /.test(line));
  if (marker >= 0) {
    return `${STATE_PATH}, line ${marker + 1}: git left conflict markers. In the list of layers keep what should be installed, elsewhere take either side, then run claw replay.`;
  }
  return error.message.replace(/ `claw doctor` names.*$/s, '');
}

/** Lists ways to recover, only those that exist and can be read. */
async function waysBack(root: string): Promise<string> {
  const ways: string[] = [];
  const backup = newestBackup(root);
  if (backup !== null) {
    ways.push(`cp ${backup.path} ${STATE_PATH}  (as "${backup.summary}" left it)`);
  }
  if (await isCommitted(root)) ways.push(`git checkout HEAD -- ${STATE_PATH}`);
  if (ways.length > 0) return `Take one back, then run claw verify: ${ways.join(', or ')}.`;
  return (
    `No good copy is in git or .claw/backup. Move ${STATE_PATH} away and run claw init: the files ` +
    'stay as they are, and what skills brought counts as your own edits.'
  );
}

function newestBackup(root: string): { readonly path: string; readonly summary: string } | null {
  for (const { id, summary, stateAfter } of listTransactions(root)) {
    const folder = `.claw/backup/${id}`;
    const steps = readJournal(root, `${folder}/record.json`)?.steps ?? [];
    const path = `${folder}/after/${steps.findIndex((step) => step.path === STATE_PATH)}`;
    if (stateAfter === null || !existsSync(join(root, path))) continue;
    const bytes = readFileSync(join(root, path));
    if (digestBytes(bytes) === stateAfter && isState(bytes)) return { path, summary };
  }
  return null;
}

async function isCommitted(root: string): Promise<boolean> {
  if (!isGitFolder(root)) return false;
  try {
    return isState(await runGit(root, ['cat-file', 'blob', `HEAD:${STATE_PATH}`]));
  } catch {
    return false; // No commit yet, or none that holds it.
  }
}

function isState(bytes: Buffer): boolean {
  try {
    parseState(bytes);
    return true;
  } catch {
    return false; // Another unreadable one is no help.
  }
}
