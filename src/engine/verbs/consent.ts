import { matchesGlob } from 'node:path';
import type { FileChange } from '../compose/plan.ts';
import { ClawError } from '../errors.ts';
import { needsConsent } from '../skill/protection.ts';

/**
 * What runs on its own, or steers a tool, changes only with the owner's named consent.
 *
 * @throws ClawError CONSENT_NEEDED with the paths in `data.paths`
 */
export function checkConsent(changes: readonly FileChange[], allow: readonly string[]): void {
  const paths = missingConsent(changes, allow);
  const [first] = paths;
  if (first === undefined) return;
  const flags = paths.map((path) => `--allow ${path}`).join(' ');
  throw new ClawError(
    'CONSENT_NEEDED',
    `This would change ${paths.join(', ')}, which runs or steers programs. Look at it, then add ${flags}.`,
    { path: first, data: { paths } },
  );
}

/** Paths of a plan that the owner has yet to name with `--allow`. */
export function missingConsent(
  changes: readonly FileChange[],
  allow: readonly string[],
): readonly string[] {
  return changes
    .map(({ path }) => path)
    .filter((path) => needsConsent(path))
    .filter((path) => !allow.some((glob) => glob === path || matchesGlob(path, glob)));
}
