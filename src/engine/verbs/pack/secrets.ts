import { ClawError } from '../../errors.ts';
import { readTreeFile } from '../../state/disk.ts';
import { envData } from '../../structured/env-edit.ts';
import type { Tree } from '../../tree.ts';

const SECRET_NAME = /TOKEN|SECRET|KEY|PASS|CREDENTIAL|AUTH/;

/** Shorter values stand in many files by chance. */
const SECRET_LENGTH = 8;

/** Values of the owner's `.env`, by the names of their settings; none of them belongs in a package. */
export type OwnValues = ReadonlyMap<string, string>;

/** Reads the owner's `.env`. */
export function readOwnValues(root: string): OwnValues {
  const file = readTreeFile(root, '.env');
  const entries = Object.entries(file === null ? {} : envData(file.bytes));
  return new Map(entries.filter(([, value]) => value !== ''));
}

/** Whether an example of a setting is a value that the owner's `.env` holds. */
export function isOwnValue(own: OwnValues, name: string, example: string): boolean {
  if (example === '') return false;
  return own.get(name) === example || secretsOf(own).some(([, value]) => example.includes(value));
}

/**
 * Refuses a package that holds a secret of the owner's `.env`, in whatever file.
 *
 * @throws ClawError SECRET_FOUND with the path inside the package
 */
export function refuseSecrets(files: Tree, own: OwnValues): void {
  const secrets = secretsOf(own);
  for (const [path, { bytes }] of files) {
    // What a file was before is the core's, and known to everybody.
    const found = path.startsWith('base/')
      ? undefined
      : secrets.find(([, value]) => bytes.includes(value));
    if (found === undefined) continue;
    throw new ClawError(
      'SECRET_FOUND',
      `${path} would hold the value of ${found[0]} from your .env, and a package is there for others. ` +
        `Read it from the environment, as process.env.${found[0]}, then pack again.`,
      { path, data: { setting: found[0] } },
    );
  }
}

function secretsOf(own: OwnValues): readonly (readonly [name: string, value: string])[] {
  return [...own].filter(
    ([name, value]) => SECRET_NAME.test(name) && value.length >= SECRET_LENGTH,
  );
}
