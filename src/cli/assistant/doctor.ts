import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { type CliResult, doctor, type EngineContext } from '@patchclaw/claw/cli';
import { readSettings, type Settings, SettingsError } from '../../config.ts';
import { examineAssistant, type Finding } from '../../doctor/examination.ts';
import { dataDirOf, environmentOf } from '../environment.ts';

/**
 * Returns the engine's findings, then the assistant's if the tree is this installation. Both run at the same time;
 * neither changes anything.
 *
 * @param isOffline leaves out checks that ask a server elsewhere
 */
export async function lookAtAll(
  context: EngineContext,
  isOffline: boolean,
): Promise<CliResult<'doctor'>> {
  const [code, found] = await Promise.all([doctor(context), assistant(context, isOffline)]);
  const { findings } = code.data ?? { findings: [] };
  const all = [
    ...findings.map((finding) => ({ ...finding, part: 'code' as const })),
    ...found.map((finding) => ({ ...finding, part: 'assistant' as const })),
  ];
  const outcome = all.every(({ ok }) => ok) ? 'done' : 'failed';
  return { ...code, outcome, data: { findings: all } };
}

/** Returns nothing for another codebase than claw's own, which has no assistant. */
async function assistant(
  { root, now, onProgress }: EngineContext,
  isOffline: boolean,
): Promise<readonly Finding[]> {
  const home = resolve(import.meta.dirname, '../../..');
  if (realpathSync(root) !== realpathSync(home)) return [];
  onProgress({ kind: 'step', text: 'Looking at the code and at the assistant' });
  const environment = environmentOf(root);
  return await examineAssistant({
    projectDir: root,
    dataDir: dataDirOf(environment, root),
    homeDir: homedir(),
    environment,
    settings: settingsOrNull(environment, root),
    isOffline,
    now: () => now().getTime(),
  });
}

/** Reads the settings; null where they do not parse, for which there is an examination of its own. */
function settingsOrNull(
  environment: ReturnType<typeof environmentOf>,
  root: string,
): Settings | null {
  try {
    return readSettings(environment, root);
  } catch (error) {
    if (error instanceof SettingsError) return null;
    throw error;
  }
}
