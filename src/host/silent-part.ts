import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { SilentContribution } from '../lib/contribution.ts';
import { wrongText } from '../lib/settings.ts';
import type { ProjectPort } from './contracts/ports.ts';

export type SettingsPresence = ProjectPort & {
  /** Tells whether a setting has a value, in `.env` or the environment. */
  readonly isSet: (setting: string) => boolean;
};

/** Says why a part is silent, and what to do, as `/status` shows it in brackets. */
export function whySilent(places: SettingsPresence, part: SilentContribution): string {
  if (faultOf(part) === null && hasSetUpStep(places, part.name)) {
    return `run \`npx claw setup ${part.name}\` in a shell`;
  }
  return whatIsMissing(places, part);
}

/** Says what is wrong or unset, whether or not a set-up step would ask for it. */
export function whatIsMissing({ isSet }: SettingsPresence, part: SilentContribution): string {
  const fault = faultOf(part);
  if (fault !== null) return fault;
  const unset = part.needs.filter((setting) => !isSet(setting));
  return unset.length === 0
    ? 'nothing is set for it yet'
    : `set ${unset.join(' and ')} in \`.env\`, then say \`/restart\``;
}

/** Says what exists but cannot be used; null if nothing. */
export function faultOf({ unusable, wrong }: SilentContribution): string | null {
  if (unusable !== undefined) return unusable;
  if (wrong.length === 0) return null;
  return wrong.map((setting) => wrongText(setting, '`.env`')).join('; ');
}

/** Tells whether `claw setup <name>` sets a part up. */
export function hasSetUpStep({ projectDir }: ProjectPort, name: string): boolean {
  return existsSync(join(projectDir, 'src/setup', `${name}.ts`));
}
