import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { makeOneFilePackages } from '../bin/one-file-packages.js';

const HOME = join(import.meta.dirname, '..');
const NAMES = ['commander', 'jsonc-parser', 'semver', 'yaml', 'zod'];
/** What Node adds to the names of a package that is no module. */
const MARKS = /^(default|module\.exports|__esModule)$/;
const DEFAULT_IMPORT = /^import (?!type\b|\{|\*)[^;]*? from '([a-z-]+)'/gm;
const FOLDER = 'node_modules/.cache/patchclaw/packages';

test('a package in one file exports what the package does, and counts for its own version alone', async () => {
  const home = join(tmpdir(), `claw-one-file-${process.pid}`);
  try {
    mkdirSync(join(home, 'node_modules'), { recursive: true });
    mkdirSync(join(home, 'src'));
    for (const name of NAMES) {
      symlinkSync(join(HOME, 'node_modules', name), join(home, 'node_modules', name));
    }
    await makeOneFilePackages(home);
    const made = readdirSync(join(home, FOLDER));
    expect(made).toHaveLength(NAMES.length);
    for (const [at, name] of NAMES.entries()) {
      const text = readFileSync(join(home, FOLDER, made[at] ?? ''), 'latin1');
      expect(text.match(/[^\x00-\x7f].*/)?.[0]).toBeUndefined();
      expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThan(2000);
      const one = await import(pathToFileURL(join(home, FOLDER, made[at] ?? '')).href);
      const whole = await import(name);
      const names = Object.keys(whole).filter((name) => !MARKS.test(name));
      expect(Object.keys(one).sort()).toEqual(names.sort());
      for (const name of names) expect(typeof one[name], name).toBe(typeof whole[name]);
    }
    const path = join(home, FOLDER, made.find((name) => name.startsWith('yaml')) ?? '');
    writeFileSync(path, "export const parse = () => 'one file';\n");
    expect(parseIn(home)).toBe('one file');
    renameSync(path, join(home, FOLDER, 'yaml-0.0.1.js'));
    expect(parseIn(home)).toBe('the package');
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});

test('nothing takes the default export of such a package: its one file has only the names', () => {
  const wrong = sources().flatMap((path) =>
    [...readFileSync(join(HOME, path), 'utf8').matchAll(DEFAULT_IMPORT)]
      .filter(([, name = '']) => NAMES.includes(name))
      .map(([line]) => `${path}: ${line}`),
  );
  expect(wrong).toEqual([]);
});

function sources(): readonly string[] {
  return ['src', 'bin', 'skills'].flatMap((folder) =>
    readdirSync(join(HOME, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.[jt]s$/.test(path) && !path.includes('node_modules'))
      .map((path) => `${folder}/${path}`),
  );
}

/** Parses a text with yaml in a module of `src/`, in a process that was told of the files. */
function parseIn(home: string): string {
  writeFileSync(
    join(home, 'src/a.mjs'),
    "import { parse } from 'yaml';\nconsole.log(parse('the package'));\n",
  );
  const start = `import { useOneFilePackages } from ${JSON.stringify(
    pathToFileURL(join(HOME, 'bin/one-file-packages.js')).href,
  )};
    useOneFilePackages(${JSON.stringify(home)});
    await import(${JSON.stringify(pathToFileURL(join(home, 'src/a.mjs')).href)});`;
  const args = ['--input-type=module', '--eval', start];
  return execFileSync(process.execPath, args, { encoding: 'utf8' }).trim();
}
