import { ClawError } from '@patchclaw/claw/cli';
import { readSettings, type Settings, SettingsError } from '../../config.ts';
import { type Models, openModels } from '../../model/model.ts';
import { discoverProviders } from '../../model/provider.ts';
import type { Environment } from '../environment.ts';

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
