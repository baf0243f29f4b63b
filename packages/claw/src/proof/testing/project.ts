import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Tree, TreeFile } from '../../../../merge/src/versions.ts';
import type { Environment } from '../sandboxed.ts';
import type { LayerTests } from '../view.ts';

/** Returns a small project in a folder of its own, gone at the end of the test. */
export function temporaryProject(
  files: Readonly<Record<string, string>>,
): { readonly root: string } & Disposable {
  const root = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'claw-proof-'));
  for (const [path, text] of Object.entries(files)) {
    fs.mkdirSync(dirname(join(root, path)), { recursive: true });
    fs.writeFileSync(join(root, path), text);
  }
  fs.mkdirSync(join(root, '.claw'), { recursive: true });
  return { root, [Symbol.dispose]: () => fs.rmSync(root, { recursive: true, force: true }) };
}

export function treeFile(text: string): TreeFile {
  return { bytes: Buffer.from(text), isExecutable: false };
}

/** Returns a layer whose only test file holds this text. */
export function layer(skill: string, text: string): LayerTests {
  const files: Tree = new Map([['tests/a.test.js', treeFile(text)]]);
  return { skill, files, test: ['tests/a.test.js'] };
}

/** An environment in which bubblewrap, where installed, is found. */
export const ENVIRONMENT: Environment = { PATH: '/usr/bin:/bin', HOME: '/root', SECRET: 'hunter2' };

/** One in which it is not. */
export const WITHOUT_BUBBLEWRAP: Environment = { ...ENVIRONMENT, PATH: '/nowhere' };
