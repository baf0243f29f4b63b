import type { Conflict } from '../conflict.ts';
import { type FileMerge, mergeFiles } from '../merge/file.ts';
import { addedFile, baseFile, modifiedFile } from '../skill/accessors.ts';
import type { FileOp } from '../skill/manifest.ts';
import type { SkillPackage } from '../skill/package.ts';
import { isSameFile, type TreeFile, type Versions } from '../tree.ts';
import type { Canvas } from './composition.ts';
import type { Names } from './names.ts';

/** Merges one layer onto the canvas: renames and deletions first, then its new and changed files. */
export function mergeLayer(canvas: Canvas, names: Names, layer: SkillPackage): void {
  for (const op of layer.manifest.fileOps) {
    if (op.type === 'delete') deleteFile(canvas, names, layer, op.path);
    else renameFile(canvas, names, layer, op);
  }
  for (const path of layer.manifest.adds) addFile(canvas, layer, path);
  for (const path of layer.manifest.modifies) modifyFile(canvas, names, layer, path);
}

function deleteFile(canvas: Canvas, names: Names, layer: SkillPackage, named: string): void {
  const path = names.current(named);
  const ours = canvas.file(path);
  if (ours === null) return;
  const base = baseFile(layer, named) ?? null;
  const outcome = mergeFiles({ base, ours, theirs: null });
  settle(canvas, layer, path, { base, ours, theirs: null }, outcome);
}

function renameFile(
  canvas: Canvas,
  names: Names,
  layer: SkillPackage,
  op: Extract<FileOp, { from: string }>,
): void {
  const from = names.current(op.from);
  if (from === op.to) return;
  const ours = canvas.file(from);
  if (ours === null) {
    const base = baseFile(layer, op.from) ?? null;
    canvas.conflict(
      conflictAt(canvas, layer, from, 'modify-delete', { base, ours, theirs: base }, [
        `${label(layer)} renames ${op.from} to ${op.to}, but ${canvas.author(from)} has no such file.`,
      ]),
    );
    return;
  }
  if (from !== op.from) {
    canvas.conflict(
      conflictAt(canvas, layer, from, 'content', { base: ours, ours, theirs: ours }, [
        `${canvas.author(from)} renames ${op.from} to ${from}, ${label(layer)} to ${op.to}.`,
      ]),
    );
    return;
  }
  const there = canvas.file(op.to);
  if (there !== null && !isSameFile(there, ours)) {
    canvas.conflict(
      conflictAt(canvas, layer, op.to, 'add-add', { base: null, ours: there, theirs: ours }, [
        `${label(layer)} renames ${op.from} to ${op.to}, where ${canvas.author(op.to)} has another file.`,
      ]),
    );
    return;
  }
  canvas.rename(from, op.to, layer.manifest.skill);
  names.move(from, op.to);
}

function addFile(canvas: Canvas, layer: SkillPackage, path: string): void {
  const theirs = addedFile(layer, path) ?? null;
  const ours = canvas.file(path);
  settle(
    canvas,
    layer,
    path,
    { base: null, ours, theirs },
    mergeFiles({ base: null, ours, theirs }),
  );
}

function modifyFile(canvas: Canvas, names: Names, layer: SkillPackage, named: string): void {
  const path = names.current(named);
  const versions = {
    base: baseFile(layer, named) ?? ownRenamedBase(layer, named),
    ours: canvas.file(path),
    theirs: modifiedFile(layer, named) ?? null,
  };
  settle(canvas, layer, path, versions, mergeFiles(versions));
}

// A package that renames and changes one file may carry the base under either name.
function ownRenamedBase(layer: SkillPackage, path: string): TreeFile | null {
  for (const op of layer.manifest.fileOps) {
    if (op.type !== 'delete' && op.to === path) return baseFile(layer, op.from) ?? null;
  }
  return null;
}

function settle(
  canvas: Canvas,
  layer: SkillPackage,
  path: string,
  versions: Versions<TreeFile | null>,
  outcome: FileMerge,
): void {
  if (canvas.isConflicted(path)) return;
  if (outcome.kind === 'clean') {
    canvas.put(path, outcome.file, layer.manifest.skill);
    return;
  }
  const author = canvas.author(path);
  const reasons = {
    content: `${author} and ${label(layer)} change the same lines.`,
    binary: `${author} and ${label(layer)} both change this binary file.`,
    'add-add': `${author} and ${label(layer)} both bring this file, with different content.`,
    'modify-delete':
      versions.theirs === null
        ? `${label(layer)} deletes this file, but ${author} has changed it.`
        : `${label(layer)} changes this file, but ${author} does not have it.`,
  };
  const reason = [reasons[outcome.conflict]];
  canvas.conflict(
    conflictAt(canvas, layer, path, outcome.conflict, versions, reason, outcome.hunks),
  );
}

function conflictAt(
  canvas: Canvas,
  layer: SkillPackage,
  path: string,
  kind: Conflict['kind'],
  sides: Versions<TreeFile | null>,
  reason: readonly string[],
  hunks: Conflict['hunks'] = [],
): Conflict {
  const layers = [canvas.author(path), layer.manifest.skill] as const;
  return { path, kind, layers, reason: reason.join(' '), hunks, sides, values: null };
}

function label(layer: SkillPackage): string {
  return layer.manifest.skill;
}
