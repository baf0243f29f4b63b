import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { digestBytes } from '../../digest.ts';
import type { StagedChange } from '../commit.ts';
import type { Step } from '../journal.ts';
import { fingerprint } from '../recover.js';

/** A file of a small project: its text, or text and mode. */
export type Files = Readonly<Record<string, string | readonly [text: string, mode: number]>>;

/** Lays files out in a folder, making parents. */
export function layOut(root: string, files: Files): void {
  for (const [path, file] of Object.entries(files)) {
    const [text, mode] = typeof file === 'string' ? [file, 0o644] : file;
    fs.mkdirSync(dirname(join(root, path)), { recursive: true });
    fs.writeFileSync(join(root, path), text);
    fs.chmodSync(join(root, path), mode);
  }
}

const STATE_BEFORE = 'state: before\n';
const STATE_AFTER = 'state: after\n';

/** Returns a project before the change of `everyKind`, with two folders prepared for its swaps. */
export function layOutBefore(root: string): void {
  layOut(root, {
    '.claw/state.yaml': STATE_BEFORE,
    '.claw/tx/view-1/node_modules/pkg/index.js': 'new package\n',
    '.claw/tx/view-1/base/src/a.ts': 'the release\n',
    'bin/claw.js': ['#!/usr/bin/env node\n', 0o755],
    'data/inner.txt': 'a folder that becomes a file\n',
    'node_modules/pkg/index.js': 'old package\n',
    'src/a.ts': 'one\n',
    'packages/claw/src/transaction/recover.js': 'old recovery\n',
    'src/gone/only.ts': ['alone in its folder\n', 0o640],
    'src/keep/x.ts': 'x\n',
    'src/keep/y.ts': 'y\n',
    'src/mode.sh': 'echo\n',
    'src/private.txt': ['secret\n', 0o600],
    'src/tool.sh': ['echo tool\n', 0o750],
    thing: 'a file that becomes a folder\n',
  });
  fs.chmodSync(join(root, 'src/gone'), 0o700);
}

/** Modifies, adds, deletes, changes modes, and swaps a folder, all at once. */
export function everyKind(root: string): StagedChange {
  const write = (path: string, text: string, isExecutable = false): Step => ({
    kind: 'write',
    path,
    bytes: Buffer.from(text),
    isExecutable,
    before: fingerprint(join(root, path)),
  });
  const remove = (path: string): Step => {
    const before = fingerprint(join(root, path));
    if (before === null) throw new Error(`${path} is not there`);
    return { kind: 'delete', path, before };
  };
  return {
    verb: 'apply',
    summary: 'everything that a transaction can do',
    stateBefore: digestBytes(STATE_BEFORE),
    stateAfter: digestBytes(STATE_AFTER),
    steps: [
      write('.claw/state.yaml', STATE_AFTER),
      write('bin/claw.js', '#!/usr/bin/env node\n// newer\n', true),
      write('packages/claw/src/transaction/recover.js', 'new recovery\n'),
      write('src/a.ts', 'two\n'),
      write('src/private.txt', 'more secret\n'),
      write('src/tool.sh', 'no tool any more\n'),
      write('src/mode.sh', 'echo\n', true),
      write('src/new/deep/file.ts', 'new\n'),
      write('src/new/run.sh', 'run\n', true),
      write('data', 'now a file\n'),
      write('thing/inside.txt', 'now a folder\n'),
      write('.claw/packages/demo/manifest.yaml', 'skill: demo\n'),
      write('.claw/packages/demo/modify/src/a.ts', 'two\n'),
      write('.claw/packages/demo/modify/src/tool.sh', 'echo tool\n', true),
      remove('data/inner.txt'),
      remove('thing'),
      remove('src/gone/only.ts'),
      remove('src/keep/x.ts'),
      { kind: 'swap', path: 'node_modules', prepared: '.claw/tx/view-1/node_modules' },
      { kind: 'swap', path: '.claw/base', prepared: '.claw/tx/view-1/base' },
    ],
  };
}

/** Returns every file and folder with its mode, apart from what the engine keeps for itself. */
export function snapshot(root: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  const visit = (folder: string) => {
    for (const name of fs.readdirSync(join(root, folder)).sort()) {
      const path = folder === '' ? name : `${folder}/${name}`;
      if (/^\.claw\/(tx|backup|cache|lock\.db.*|\.git(ignore|attributes))$/.test(path)) continue;
      const stat = fs.lstatSync(join(root, path));
      const mode = (stat.mode & 0o7777).toString(8);
      if (stat.isDirectory()) {
        found[path] = `folder ${mode}`;
        visit(path);
      } else {
        const bytes = fs.readFileSync(join(root, path));
        found[path] = `${mode} ${createHash('sha256').update(bytes).digest('hex').slice(0, 12)}`;
      }
    }
  };
  visit('');
  return found;
}
