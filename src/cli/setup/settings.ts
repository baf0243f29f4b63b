import { resolve } from 'node:path';
import { readSettings, type Settings, SettingsError } from '../../config.ts';
import { ClawError } from '../../engine/commands.ts';
import { readEnvFile } from '../../env-file.ts';
import { type Models, openModels } from '../../model/model.ts';
import { discoverProviders } from '../../model/provider.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** `.env` of a project, and the environment over it. */
export function environmentOf(root: string): Environment {
  return { ...readEnvFile(root), ...process.env };
}

/** Returns the settings in an environment. @throws ClawError USAGE naming the setting that is wrong */
export function settingsOf(environment: Environment, root: string): Settings {
  try {
    return readSettings(environment, root);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    throw new ClawError('USAGE', `${error.message}. Nothing was written.`, { cause: error });
  }
}

/** Opens the models that these settings can ask. */
export async function modelsIn(environment: Environment, settings: Settings): Promise<Models> {
  return openModels(await discoverProviders(), environment, { settings });
}

/** Returns the data folder, also where another setting is wrong. */
export function dataDirOf(environment: Environment, root: string): string {
  return resolve(root, environment['CLAW_DATA'] || 'data');
}
