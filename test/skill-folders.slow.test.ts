import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { editorConfig } from '../packages/claw/src/package/templates.ts';
import { bundledSkills, manifestOf } from '../src/testing/claw/bundled-skills.ts';

const HOME = join(import.meta.dirname, '..');

const BROWSER_TYPES = '    "lib": ["es2024", "esnext.disposable", "dom", "dom.iterable"],\n';

test.each(bundledSkills())(
  'an editor finds what %s imports, from the core and from the skills it needs',
  (name) => {
    const wanted = editorConfig(manifestOf(name).depends.map((one) => one.name));
    // A skill with modules for browsers names their types as well.
    const isForBrowsers = existsSync(join(HOME, 'skills', name, 'add/ui'));
    expect(readFileSync(join(HOME, 'skills', name, 'tsconfig.json'), 'utf8')).toBe(
      isForBrowsers ? wanted.replace(/(?=^ *"incremental")/m, BROWSER_TYPES) : wanted,
    );
  },
);

// Skills without packages of their own: those of the others are installed by `npm run check:skills`, which checks all.
test.each(['notes', 'persona', 'roles'])('the types of %s fit in its own folder', (name) => {
  const tsc = join(HOME, 'node_modules/.bin/tsc');
  execFileSync(tsc, ['--noEmit', '-p', join(HOME, 'skills', name)], { encoding: 'utf8' });
});
