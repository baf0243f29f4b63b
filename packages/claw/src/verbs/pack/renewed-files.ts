import { changedLines, isSameFile, type TreeFile } from '@patchclaw/merge';
import { type Document, parseDocument } from 'yaml';
import { withFollowedTests } from '../../operation/followed-tests.ts';
import { filesByRole } from '../../package/checks/contents.ts';
import type { PathMap } from '../../package/manifest/path-map.ts';
import type { SkillPackage } from '../../package/package.ts';
import { addEditorConfig, intentNote } from '../../package/templates.ts';
import { type Declaration, declare } from './declarations.ts';

const INTENT = '.intent.md';

/** A package's work on the present core: each file before and after. */
export type Work = ReadonlyMap<
  string,
  { readonly before: TreeFile | null; readonly after: TreeFile | null }
>;

export type Renewal = {
  readonly skill: SkillPackage;
  readonly work: Work;
  readonly declarations: readonly Declaration[];
  readonly coreVersion: string | null;
  readonly releaseFile: (path: string) => TreeFile | null;
  readonly pathMaps: readonly PathMap[];
};

/**
 * Returns the files of a package, written against the present core. Files that it neither adds nor changes stay as
 * they are: its page, its notes, and its tests except for imports of moved files. Lists of files in its manifest are
 * updated; a manifest without lists stays without.
 */
export function renewedFiles(renewal: Renewal): Map<string, TreeFile> {
  const { skill, work, declarations, coreVersion, releaseFile, pathMaps } = renewal;
  const { manifest } = skill;
  const has = (path: string) => (work.get(path)?.after ?? releaseFile(path)) !== null;
  const files = new Map(
    [...withFollowedTests(skill, { pathMaps, has })].filter(
      ([path]) => !/^(add|modify|base)\//.test(path) || isNote(path),
    ),
  );
  const adds: string[] = [];
  const modifies: string[] = [];
  const deletes: string[] = [];
  const renames = manifest.fileOps.flatMap((op) => (op.type === 'delete' ? [] : [op]));
  const moved = new Map(renames.map(({ from, to }) => [to, from]));
  for (const [path, { before, after }] of work) {
    const from = moved.get(path);
    const base = from === undefined ? before : releaseFile(from);
    if (renames.some((op) => op.from === path) || isSameFile(base, after)) continue;
    if (after === null) {
      deletes.push(path);
      if (base) files.set(`base/${path}`, base);
    } else if (base === null) {
      adds.push(path);
      files.set(`add/${path}`, after);
    } else {
      modifies.push(path);
      files.set(`modify/${path}`, after);
      files.set(`base/${from ?? path}`, base);
      if (!manifest.modifies.includes(path)) files.set(...newNote(path, base, after));
    }
  }
  for (const { from } of renames) {
    const file = releaseFile(from);
    if (file) files.set(`base/${from}`, file);
  }
  for (const note of [...files.keys()].filter(isNote)) {
    if (!modifies.includes(note.slice('modify/'.length, -INTENT.length))) files.delete(note);
  }
  const keys = {
    file_ops: [...renames, ...deletes.map((path) => ({ type: 'delete', path }))],
    core_version: coreVersion ?? manifest.coreVersion,
  };
  const lists = {
    adds: inKnownOrder(manifest.adds, adds),
    modifies: inKnownOrder(manifest.modifies, modifies),
    test: inKnownOrder(manifest.test, filesByRole(files.keys()).tests),
  };
  edit(files, (document) => {
    const listed = Object.entries(lists).filter(([key]) => document.has(key));
    setKeys(document, { ...keys, ...Object.fromEntries(listed) });
    declare(document, declarations);
  });
  const depends = manifest.depends.map(({ name }) => name);
  addEditorConfig(files, depends, releaseFile);
  return files;
}

/** Puts a version into the manifest. */
export function setVersion(files: Map<string, TreeFile>, version: string): void {
  edit(files, (document) => setKeys(document, { version }));
}

/** Changes the manifest where there is something to change; its comments and order stay. */
function edit(files: Map<string, TreeFile>, change: (document: Document) => void): void {
  const file = files.get('manifest.yaml');
  if (file === undefined) return;
  const document = parseDocument(file.bytes.toString('utf8'));
  const before = JSON.stringify(document.toJS());
  change(document);
  if (JSON.stringify(document.toJS()) === before) return;
  const bytes = Buffer.from(document.toString({ lineWidth: 0 }));
  files.set('manifest.yaml', { ...file, bytes });
}

function setKeys(document: Document, keys: Readonly<Record<string, unknown>>): void {
  for (const [key, value] of Object.entries(keys)) {
    const isAbsent = Array.isArray(value) && value.length === 0 && !document.has(key);
    const isSame = JSON.stringify(plainOf(document.get(key))) === JSON.stringify(value);
    if (!isAbsent && !isSame) document.set(key, document.createNode(value));
  }
}

function plainOf(value: unknown): unknown {
  const isNode = typeof value === 'object' && value !== null && 'toJSON' in value;
  return isNode && typeof value.toJSON === 'function' ? value.toJSON() : value;
}

function inKnownOrder(known: readonly string[], now: readonly string[]): readonly string[] {
  const fresh = now.filter((path) => !known.includes(path)).sort();
  return [...known.filter((path) => now.includes(path)), ...fresh];
}

function newNote(path: string, base: TreeFile, after: TreeFile): [string, TreeFile] {
  const text = intentNote(path, changedLines(base.bytes, after.bytes));
  return [`modify/${path}${INTENT}`, { bytes: Buffer.from(text), isExecutable: false }];
}

function isNote(path: string): boolean {
  return path.startsWith('modify/') && path.endsWith(INTENT);
}
