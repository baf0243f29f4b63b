import { parseEnv } from 'node:util';
import type { Tree } from '@patchclaw/merge';
import { ClawError } from '../../errors.ts';
import { readTreeFile } from '../../installed/disk.ts';
import { secretTexts } from './secret-texts.ts';

/** Values of the owner's `.env`, by the names of their settings; none of them belongs in a package. */
export type OwnValues = ReadonlyMap<string, string>;

/** Reads the owner's `.env` as the assistant does: a value in quotes may have several lines. */
export function readOwnValues(root: string): OwnValues {
  const file = readTreeFile(root, '.env');
  const text = file === null ? '' : file.bytes.toString('utf8').replace(/^\uFEFF/, '');
  const entries = Object.entries(parseEnv(text));
  return new Map(entries.flatMap(([name, value = '']) => (value === '' ? [] : [[name, value]])));
}

/** Tells whether an example of a setting is a value that the owner's `.env` holds. */
export function isOwnValue(own: OwnValues, name: string, example: string): boolean {
  if (example === '') return false;
  return own.get(name) === example || secretsOf(own).some(({ text }) => example.includes(text));
}

/**
 * Refuses a package that holds a secret of the owner's `.env`, in whatever file.
 *
 * @throws ClawError SECRET_FOUND with the path inside the package
 */
export function refuseSecrets(files: Tree, own: OwnValues): void {
  const secrets = secretsOf(own);
  for (const [path, { bytes }] of files) {
    const found = secrets.find(({ text }) => bytes.includes(text));
    if (found === undefined) continue;
    const { setting } = found;
    // The base of a file may be a private commit of the owner's.
    const advice = path.startsWith('base/')
      ? `It is in ${path.slice('base/'.length)} of the core that your edits begin from, so all who ` +
        `have that core know it: give ${setting} another value in .env, then pack again.`
      : `Read it from the environment, as process.env.${setting}, then pack again.`;
    throw new ClawError(
      'SECRET_FOUND',
      `${path} would hold the value of ${setting} from your .env, or the secret in it, and a package is ` +
        `there for others. ${advice}`,
      { path, data: { setting } },
    );
  }
}

/** Warns of files of the core that hold a secret of the owner's `.env`, by path. */
export function noteSecrets(core: Tree, own: OwnValues): readonly string[] {
  const secrets = secretsOf(own);
  return [...core].flatMap(([path, { bytes }]) => {
    const found = secrets.find(({ text }) => bytes.includes(text));
    if (found === undefined) return [];
    const { setting } = found;
    return [
      `${path} holds the value of ${setting} from your .env, and so does its copy in .claw/base, which is ` +
        `committed with the tree. Read it from the environment, as process.env.${setting}, and give it ` +
        'another value before others see either.',
    ];
  });
}

function secretsOf(own: OwnValues): readonly { readonly setting: string; readonly text: string }[] {
  return [...own].flatMap(([setting, value]) =>
    secretTexts(setting, value).map((text) => ({ setting, text })),
  );
}
