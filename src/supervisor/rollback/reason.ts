import type { RunEnd } from '../run.ts';

/** Says, for the owner, why a tree was taken back: how its assistant ended, and with which error. */
export function reasonFor(
  { isLate, exitCode, signal, lastLines }: RunEnd,
  healthyMs: number,
): string {
  const how = isLate
    ? `It was not ready after ${Math.ceil(healthyMs / 1000)} seconds.`
    : `It ended with ${signal ?? `code ${exitCode}`}.`;
  const said = errorIn(lastLines);
  return said === null ? how : `${how} ${said} \`npx claw logs\` has the rest.`;
}

/**
 * Finds the line that names the error, and its file, in Node's output for an exception; else the last line.
 */
function errorIn(lines: readonly string[]): string | null {
  const named = lines.findLast((line) => /^(Uncaught )?\w*Error\b/.test(line));
  const place = lines.findLast((line) => /^(file:\/\/)?\/\S+:\d+$/.test(line));
  const said = named ?? lines.findLast((line) => line.trim() !== '');
  if (said === undefined) return null;
  return place === undefined
    ? `It said: ${said}.`
    : `It said: ${said}, in ${place.replace('file://', '')}.`;
}
