import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { skillFiles } from '../../../src/testing/claw/codebase.ts';
import { render } from './doc.ts';
import { type Disk, ENV_ID, type Layer } from './model.ts';

/** A folder in memory where there is one, so that thousands of small codebases are quick. */
export function temporaryFolder(): string {
  const place = fs.existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  return fs.realpathSync(fs.mkdtempSync(join(place, 'claw-laws-')));
}

/** Writes what differs between two trees. */
export function layOut(root: string, before: Disk, after: Disk): void {
  for (const path of before.keys()) {
    if (after.has(path)) continue;
    fs.rmSync(join(root, path));
    removeEmpty(root, dirname(path));
  }
  for (const [path, doc] of after) {
    if (before.get(path) === doc) continue;
    fs.mkdirSync(dirname(join(root, path)), { recursive: true });
    fs.writeFileSync(join(root, path), render(doc));
    fs.chmodSync(join(root, path), doc.isExecutable ? 0o755 : 0o644);
  }
}

function removeEmpty(root: string, folder: string): void {
  if (folder === '.' || fs.readdirSync(join(root, folder)).length > 0) return;
  fs.rmdirSync(join(root, folder));
  removeEmpty(root, dirname(folder));
}

/** The package of a skill, under `skills/`. */
export function layOutSkill(root: string, { name, version, works, setting }: Layer): void {
  const add = works.flatMap((work) => (work.kind === 'add' ? [[work.id, contentOf(work)]] : []));
  const base = works.flatMap((work) =>
    work.kind === 'delete' ? [[work.id, { text: render(work.base), mode: modeOf(work.base) }]] : [],
  );
  const modify = works.flatMap((work) =>
    work.kind === 'modify'
      ? [[work.id, [{ text: render(work.base), mode: modeOf(work.base) }, contentOf(work)]]]
      : [],
  );
  const operations = works.flatMap((work): object[] => {
    if (work.kind === 'delete') return [{ type: 'delete', path: work.id }];
    return work.kind === 'rename' ? [{ type: 'rename', from: work.id, to: work.to }] : [];
  });
  const settings = setting === null ? [] : [`KEY_OF_${name.toUpperCase()}`];
  const files = skillFiles(name, {
    version: `${version}.0.0`,
    add: Object.fromEntries(add),
    base: Object.fromEntries(base),
    modify: Object.fromEntries(modify),
    manifest: { file_ops: operations, structured: { env_additions: settings } },
  });
  const folder = join(root, 'skills', name);
  fs.rmSync(folder, { recursive: true, force: true });
  for (const [path, content] of Object.entries(files)) {
    const { text, mode } =
      typeof content === 'string' || Buffer.isBuffer(content)
        ? { text: content, mode: 0o644 }
        : content;
    fs.mkdirSync(dirname(join(folder, path)), { recursive: true });
    fs.writeFileSync(join(folder, path), text);
    if (mode !== 0o644) fs.chmodSync(join(folder, path), mode);
  }
}

/** Every file of a project with its mode: what is there, and what the model says. */
export function filesOf(root: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  const walk = (below: string): void => {
    for (const entry of fs.readdirSync(join(root, below), { withFileTypes: true })) {
      const path = below + entry.name;
      if (path === '.claw' || path === 'skills') continue;
      if (entry.isDirectory()) walk(`${path}/`);
      else {
        const isExecutable = (fs.statSync(join(root, path)).mode & 0o111) !== 0;
        found[path] = shown(path, fs.readFileSync(join(root, path), 'latin1'), isExecutable);
      }
    }
    // Nothing that the engine takes away may leave its folder behind.
    if (below !== '' && fs.readdirSync(join(root, below)).length === 0) found[below] = 'empty';
  };
  walk('');
  return found;
}

export function filesIn(disk: Disk): Readonly<Record<string, string>> {
  const files = [...disk].map(([path, doc]) => [path, shown(path, render(doc), doc.isExecutable)]);
  return Object.fromEntries(files);
}

// Where an edit and a declaration meet in this file, blank lines are nobody's promise.
function shown(path: string, text: string, isExecutable: boolean): string {
  const isGrown = path === ENV_ID && text.includes('KEY_OF_');
  const lines = isGrown
    ? text
        .split('\n')
        .filter((line) => line !== '')
        .sort()
        .join('\n')
    : text;
  return isExecutable ? `${lines} +x` : lines;
}

function contentOf({ after }: { readonly after: Parameters<typeof render>[0] }) {
  return { text: render(after), mode: modeOf(after) };
}

function modeOf({ isExecutable }: { readonly isExecutable: boolean }): number {
  return isExecutable ? 0o755 : 0o644;
}
