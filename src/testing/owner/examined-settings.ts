import { readSettings } from '../../config.ts';
import type { Subject } from '../../doctor/examination.ts';

/**
 * Returns an installation for `claw doctor` to look at: these settings, and nothing on disk.
 *
 * @public for the tests of skills
 */
export function examinedSettings(
  environment: Readonly<Record<string, string>>,
  { isOffline = false }: { readonly isOffline?: boolean } = {},
): Subject {
  const all = { CLAW_SANDBOX: 'podman', ...environment };
  return {
    projectDir: '/nowhere',
    dataDir: '/nowhere/data',
    homeDir: '/nowhere',
    environment: all,
    settings: readSettings(all, '/nowhere'),
    isOffline,
    now: Date.now,
  };
}
