import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { standsFor } from '../bin/later.js';

const HOME = join(import.meta.dirname, '..');
const PLACE = 'src/engine/merge/text.ts';
const PLAIN = "console.log('loaded');\nexport function mergeTexts() {\n  return 'merged';\n}\n";

test('each module that is loaded later still exports those functions and nothing else', () => {
  const text = readFileSync(join(HOME, 'bin/later.js'), 'utf8');
  const paths = [...text.matchAll(/= callLater\(\s*'([^']+)'/g)].map(([, path]) => path ?? '');
  expect(paths.length).toBeGreaterThan(5);
  for (const path of paths) {
    const url = pathToFileURL(join(HOME, 'src/engine', path)).href;
    expect(standsFor(url), path).toBe(true);
  }
  expect(standsFor(pathToFileURL(join(HOME, 'src/engine/tree.ts')).href)).toBe(false);
});

test('such a module is loaded at the first call; one that was changed to export more, as any other', () => {
  const home = mkdtempSync(join(tmpdir(), 'claw-later-'));
  try {
    cpSync(join(HOME, 'bin'), join(home, 'bin'), { recursive: true });
    mkdirSync(join(home, 'src/engine/merge'), { recursive: true });
    writeFileSync(join(home, 'package.json'), '{ "type": "module" }\n');
    const uses = (names: string) =>
      `import { ${names} } from './engine/merge/text.ts';\nconsole.log('started');\n` +
      'console.log(mergeTexts());\nconsole.log(mergeTexts());\n';
    writeFileSync(join(home, PLACE), PLAIN);
    expect(run(home, uses('mergeTexts'))).toEqual(['started', 'loaded', 'merged', 'merged']);
    writeFileSync(join(home, PLACE), `${PLAIN}export const MORE = 1;\n`);
    expect(run(home, uses('MORE, mergeTexts'))).toEqual(['loaded', 'started', 'merged', 'merged']);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});

/** Runs a module of `src/` in a process whose imports are found as claw's are. @returns the lines it prints */
function run(home: string, source: string): readonly string[] {
  writeFileSync(join(home, 'src/a.ts'), source);
  const address = (path: string) => JSON.stringify(pathToFileURL(join(home, path)).href);
  const start = `import { takeOwnImportsAsWritten } from ${address('bin/own-imports.js')};
    takeOwnImportsAsWritten(${JSON.stringify(home)});
    await import(${address('src/a.ts')});`;
  const args = ['--input-type=module', '--eval', start];
  return execFileSync(process.execPath, args, { encoding: 'utf8' }).trim().split('\n');
}
