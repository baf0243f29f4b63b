import { accessSync, constants, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ClawError } from '../../errors.ts';
import { readConfig } from '../../installed/config.ts';
import { parseCommand } from '../../proof/command.ts';
import { SYSTEM_PATH } from '../../proof/sandboxed.ts';
import { findEdits } from '../status.ts';
import { bad, type Check, type CheckResult, good, type Subject } from './finding.ts';

/** The project itself: its configuration, the commands that prove it, the owner's edits. */
export const project: readonly Check[] = [
  { area: 'config', run: ({ root }) => checkConfig(root) },
  { area: 'checks', run: checkChecks },
  { area: 'edits', run: checkEdits },
];

function checkConfig(root: string): CheckResult {
  try {
    readConfig(root);
  } catch (error) {
    if (!(error instanceof ClawError)) throw error;
    return bad(error.message, 'Fix claw.config.yaml: no command runs before.');
  }
  const isThere = existsSync(join(root, 'claw.config.yaml'));
  return good(isThere ? 'claw.config.yaml is valid' : 'no claw.config.yaml; the defaults hold');
}

function checkChecks({ root, config }: Subject): CheckResult {
  if (config === null) return null;
  const missing = [...config.check, config.test].filter((line) => !isRunnable(root, line));
  if (missing.length === 0) return good([...config.check, config.test].join(', '));
  const commands = `Not found: ${missing.join(', ')}.`;
  if (existsSync(join(root, 'package.json')) && !existsSync(join(root, 'node_modules'))) {
    return good(`${commands} There is no node_modules yet`, 'npm install brings them.');
  }
  return bad(commands, 'Install them, or fix check and test in claw.config.yaml.');
}

/** Tells whether a proof would find the command. */
function isRunnable(root: string, line: string): boolean {
  const { file } = parseCommand(line);
  if (file.includes('/')) return existsSync(join(root, file)) || isExecutable(file);
  const folders = [join(root, 'node_modules/.bin'), dirname(process.execPath), ...SYSTEM_PATH];
  return folders.some((folder) => isExecutable(join(folder, file)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // Not there, or not to be run.
  }
}

async function checkEdits({ root, state, config, now }: Subject): Promise<CheckResult> {
  if (state === null || config === null) return null;
  const { length } = await findEdits(root, state, now);
  if (length === 0) return good('none that are not recorded');
  const files = length === 1 ? '1 file' : `${length} files`;
  return good(
    `${files} edited and not recorded; they survive every command`,
    'claw customize "<what and why>" records them.',
  );
}
