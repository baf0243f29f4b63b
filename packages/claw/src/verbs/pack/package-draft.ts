import { changedLines, isSameFile, mergeFiles, type TreeFile } from '@patchclaw/merge';
import { parseDocument, stringify } from 'yaml';
import { readOwnStructured } from '../../installed/config.ts';
import type { Installation } from '../../installed/installation.ts';
import type { OwnValues } from '../../operation/secrets.ts';
import type { SkillPackage } from '../../package/package.ts';
import { addEditorConfig, intentNote } from '../../package/templates.ts';
import { structuredKind } from '../../structured/structured-kind.ts';
import { type Declaration, declarationsOf, declare } from './declarations.ts';
import { findRenames, type PackedEdit } from './packed-edit.ts';
import { testStub } from './test-stub.ts';

/** The edits that a package is begun of, and where they stand. */
export type Draft = {
  readonly name: string;
  readonly description: string;
  readonly installation: Installation;
  readonly installed: readonly SkillPackage[];
  readonly edits: readonly PackedEdit[];
  readonly own: OwnValues;
};

/** Returns the files of a new package except its page, with placeholders for its author to replace. */
export function draftPackage(draft: Draft): Map<string, TreeFile> {
  const { name, installation } = draft;
  const { edits, depends } = rebaseEdits(installation, draft.installed, draft.edits);
  const files = new Map<string, TreeFile>();
  const put = (path: string, text: string) =>
    files.set(path, { bytes: Buffer.from(text), isExecutable: false });
  const ownStructured = readOwnStructured(installation.releaseFile);
  const kindOf = ({ path }: PackedEdit) => structuredKind(path, ownStructured);
  const plain = edits.filter((edit) => kindOf(edit) === null);
  const structured = edits.flatMap((edit) => {
    const kind = kindOf(edit);
    return kind === null ? [] : [{ ...edit, kind }];
  });
  const declared = declarationsOf(structured, draft.own);
  const renames = findRenames(plain);
  const moved = new Set(renames.values());
  const fileOps: object[] = [];
  for (const { path, before, after } of plain) {
    const from = renames.get(path);
    const base =
      from === undefined ? before : (plain.find((edit) => edit.path === from)?.before ?? null);
    if (after === null) {
      if (moved.has(path) || before === null) continue;
      fileOps.push({ type: 'delete', path });
      files.set(`base/${path}`, before);
      continue;
    }
    if (base === null) {
      files.set(`add/${path}`, after);
      continue;
    }
    if (from !== undefined) {
      fileOps.push({ type: 'rename', from, to: path });
      files.set(`base/${from}`, base);
      if (isSameFile(base, after)) continue;
    } else files.set(`base/${path}`, base);
    files.set(`modify/${path}`, after);
    put(`modify/${path}.intent.md`, intentNote(path, changedLines(base.bytes, after.bytes)));
  }
  const { config, releaseFile } = installation;
  const stub = testStub(name, { testCommand: config.test, releaseFile }, plain);
  if (stub !== null) put(stub.path, stub.text);
  addEditorConfig(
    files,
    depends.map((one) => one.split('@')[0] ?? one),
    installation.releaseFile,
  );
  put('manifest.yaml', manifestOf(draft, { fileOps, depends, declared }));
  return files;
}

/** Edits as a package carries them, and the skills that it cannot do without. */
type RebasedEdits = {
  readonly edits: readonly PackedEdit[];
  readonly depends: readonly string[];
};

/**
 * Rebases edits of other layers' work onto the core itself, so that a package of them applies anywhere. Where
 * an edit touches those layers' own lines or files, the package depends on them.
 */
function rebaseEdits(
  { releaseFile }: Installation,
  installed: readonly SkillPackage[],
  edits: readonly PackedEdit[],
): RebasedEdits {
  const ownStructured = readOwnStructured(releaseFile);
  const depends = new Set<string>();
  const rebased = edits.map((edit) => {
    const { path, before, after } = edit;
    const released = releaseFile(path);
    if (
      structuredKind(path, ownStructured) !== null ||
      before === null ||
      isSameFile(before, released)
    ) {
      return edit;
    }
    const merged =
      released && after
        ? mergeFiles({ base: before, ours: released, theirs: after }, { path })
        : null;
    if (merged?.kind === 'clean' && merged.file !== null && !isSameFile(merged.file, released)) {
      return { path, before: released, after: merged.file };
    }
    for (const name of layersOn(path, installed)) depends.add(name);
    return edit;
  });
  return { edits: rebased, depends: [...depends].sort() };
}

function layersOn(path: string, installed: readonly SkillPackage[]): readonly string[] {
  return installed
    .filter(({ kind }) => kind === 'skill')
    .filter(({ manifest: { adds, modifies, fileOps } }) => {
      const moved = fileOps.flatMap((op) => (op.type === 'delete' ? [] : [op.to]));
      return [...adds, ...modifies, ...moved].includes(path);
    })
    .map(({ manifest }) => manifest.skill);
}

type Contents = {
  readonly fileOps: readonly object[];
  readonly depends: readonly string[];
  readonly declared: readonly Declaration[];
};

function manifestOf(
  { name, description, installation }: Draft,
  { fileOps, depends, declared }: Contents,
): string {
  // Lines that left a file were the core's, and no skill takes those away.
  const wanted = declared.filter(({ value }) => value !== null);
  const manifest = {
    skill: name,
    version: '1.0.0',
    description,
    core_version: installation.coreVersion ?? '0.0.0',
    ...(fileOps.length === 0 ? {} : { file_ops: fileOps }),
    ...(depends.length === 0 ? {} : { depends }),
    ...(wanted.length === 0 ? {} : { structured: {} }),
  };
  const document = parseDocument(stringify(manifest, { lineWidth: 0 }));
  declare(document, wanted);
  return document.toString({ lineWidth: 0 });
}
