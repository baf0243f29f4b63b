import { matchesGlob } from 'node:path';
import { ClawError } from '../errors.ts';
import { createConsent } from '../package/checks/protection.ts';
import { newOverrides, overrideNote } from './overrides.ts';
import type { Operation } from './types.ts';

/**
 * Refuses changes that need the owner's named consent: of files that run on their own or steer a tool, and of
 * ranges of the core that a skill replaces.
 *
 * @throws ClawError CONSENT_NEEDED with the names to allow in `data.paths`
 */
export function checkConsent(operation: Operation, allow: readonly string[]): void {
  const names = missingConsent(operation, allow);
  const [first] = names;
  if (first === undefined) return;
  const overrides = newOverrides(operation).filter(({ consent }) => names.includes(consent));
  const paths = names.filter((name) => overrides.every(({ consent }) => consent !== name));
  const flags = names.map((name) => `--allow ${name}`).join(' ');
  const reasons = [
    ...(paths.length > 0
      ? [`This would change ${paths.join(', ')}, which can run code or configure tools.`]
      : []),
    ...overrides.map(overrideNote),
  ];
  throw new ClawError('CONSENT_NEEDED', `${reasons.join(' ')} Look at it, then add ${flags}.`, {
    path: first,
    data: { paths: names },
  });
}

/** Returns the paths and overrides of a plan that the owner has yet to name with `--allow`. */
export function missingConsent(operation: Operation, allow: readonly string[]): readonly string[] {
  const consent = createConsent(operation.installation.config.private);
  const changed = operation.plan.changes.map(({ path }) => path);
  const paths = changed.filter((path) => consent.protectedBy(path) !== null);
  return [...paths, ...newOverrides(operation).map(({ consent }) => consent)].filter(
    (path) => !allow.some((glob) => glob === path || matchesGlob(path, glob)),
  );
}
