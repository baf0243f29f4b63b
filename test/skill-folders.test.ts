import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readManifest } from '../src/engine/package/manifest/manifest-schema.ts';
import { editorConfig } from '../src/engine/package/templates.ts';

const HOME = join(import.meta.dirname, '..');
const NAMES = readdirSync(join(HOME, 'skills'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

test.each(NAMES)(
  'an editor finds what %s imports, from the core and from the skills it needs',
  (name) => {
    const read = (path: string) => readFileSync(join(HOME, 'skills', name, path));
    const { depends } = readManifest(read('manifest.yaml'));
    const wanted = editorConfig(depends.map((one) => one.name));
    expect(read('tsconfig.json').toString()).toBe(wanted);
  },
);

// Skills without packages of their own: those of the others are installed by `npm run check:skills`, which checks all.
test.each(['notes', 'persona', 'roles'])('the types of %s fit in its own folder', (name) => {
  const tsc = join(HOME, 'node_modules/.bin/tsc');
  execFileSync(tsc, ['--noEmit', '-p', join(HOME, 'skills', name)], { encoding: 'utf8' });
});
