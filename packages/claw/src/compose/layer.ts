import {
  at,
  diffLines,
  type FileMerge,
  type Hunk,
  internLines,
  isSameFile,
  splitLines,
  type TreeFile,
  type Versions,
} from '@patchclaw/merge';
import type { Conflict } from '../conflict.ts';
import { addedFile, baseFile } from '../package/accessors.ts';
import type { FileOp } from '../package/manifest/manifest.ts';
import type { SkillPackage } from '../package/package.ts';
import { type StructuredKind, structuredKind } from '../structured/structured-kind.ts';
import { answeredFile } from './answer.ts';
import { authorsOf } from './blame/attribution.ts';
import { conflictHunks, faultTogether } from './conflict-hunks.ts';
import {
  changeOf,
  changesFrom,
  changesTogether,
  followed,
  takeWholeChange,
} from './contained-changes.ts';
import { decidedKey, takeLostFile } from './files/deleted-file.ts';
import { takeRewrittenFile } from './files/rewritten-file.ts';
import { mergeByKey } from './files/structured-file.ts';
import { draftOf, joinLayer } from './joint.ts';
import type { MergeContext } from './merge-context.ts';

const DISAGREE: FileMerge = {
  kind: 'conflict',
  conflict: 'modify-delete',
  hunks: [],
  isExecutable: false,
};

/** Merges one layer: first its renames and deletions, then its new and changed files. */
export function mergeLayer(context: MergeContext, layer: SkillPackage): void {
  for (const op of layer.manifest.fileOps) {
    if (op.type === 'delete') deleteFile(context, layer, op.path);
    else renameFile(context, layer, op);
  }
  for (const path of layer.manifest.adds) addFile(context, layer, path);
  for (const path of layer.manifest.modifies) modifyFile(context, layer, path);
}

function deleteFile(context: MergeContext, layer: SkillPackage, named: string): void {
  const path = presentName(context, layer, named);
  const ours = context.tree.file(path);
  if (ours === null || context.decided.has(decidedKey(path, layer.manifest.skill))) return;
  const change = { base: baseFile(layer, named), theirs: null };
  const versions = { ...followed(context, layer, named, change), ours };
  // Without an ancestor, an absent file looks like an unchanged one.
  if (versions.base === null) takeMerge(context, layer, path, versions, DISAGREE);
  else mergeOnto(context, layer, path, versions);
}

function renameFile(
  context: MergeContext,
  layer: SkillPackage,
  op: Extract<FileOp, { from: string }>,
): void {
  const { tree, renames } = context;
  const known = context.mapped(op.from, layer);
  const from = presentName(context, layer, op.from);
  const to = context.mapped(op.to, layer);
  if (from === to) return;
  const name = layer.manifest.skill;
  const ours = tree.file(from);
  if (ours === null) {
    const base = baseFile(layer, op.from);
    const reason = `${name} renames ${op.from} to ${to}, but ${tree.author(from)} has no such file.`;
    const sides = { base, ours, theirs: base };
    const conflict = conflictAt(context, layer, from, 'modify-delete', sides, reason);
    resolveRename(context, layer, { from, to, resolve: context.resolveMove }, conflict);
    return;
  }
  if (from !== known) {
    const reason = `${tree.author(from)} renames ${op.from} to ${from}, ${name} to ${to}.`;
    const sides = { base: ours, ours, theirs: ours };
    tree.conflict(conflictAt(context, layer, from, 'content', sides, reason));
    return;
  }
  const there = tree.file(to);
  if (there !== null && !isSameFile(there, ours)) {
    const reason = `${name} renames ${op.from} to ${to}, where ${tree.author(to)} has another file.`;
    const sides = { base: null, ours: there, theirs: ours };
    const conflict = conflictAt(context, layer, to, 'add-add', sides, reason);
    const resolve = context.isReleasedMove(from, to) ? context.resolve : context.resolveMove;
    resolveRename(context, layer, { from, to, resolve }, conflict);
    return;
  }
  tree.rename(from, to, name);
  renames.move(from, to, name);
}

/** Resolves a rename that meets an unexpected file: the decided file goes to the new path. */
function resolveRename(
  { tree, renames }: MergeContext,
  layer: SkillPackage,
  { from, to, resolve }: Pick<MergeContext, 'resolve'> & Record<'from' | 'to', string>,
  conflict: Conflict,
): void {
  const outcome = resolve(conflict);
  if (outcome.kind === 'open') {
    tree.conflict(outcome.conflict);
    return;
  }
  const { resolved } = outcome;
  const name = layer.manifest.skill;
  if (tree.file(from) !== null) tree.put(from, null, name);
  tree.put(to, answeredFile(conflict, resolved.answer), name, resolved);
  renames.move(from, to, name);
}

function addFile(context: MergeContext, layer: SkillPackage, named: string): void {
  const path = context.mapped(named, layer);
  if (context.decided.has(decidedKey(path, layer.manifest.skill))) return;
  const change = { base: null, theirs: addedFile(layer, named) };
  const versions = { ...followed(context, layer, named, change), ours: context.tree.file(path) };
  mergeOnto(context, layer, path, versions);
}

function modifyFile(context: MergeContext, layer: SkillPackage, named: string): void {
  const path = presentName(context, layer, named);
  const ours = context.tree.file(path);
  if (context.decided.has(decidedKey(path, layer.manifest.skill))) return;
  const { base, theirs } = changeOf(context, layer, named);
  if (ours !== null && context.yields(layer.manifest.skill, path, base)) return;
  if (layer.withoutBase.has(named) && ours !== null && theirs !== null) {
    takeMerge(
      context,
      layer,
      path,
      { base: null, ours, theirs },
      mergeWithoutBase({ ours, theirs }),
    );
    return;
  }
  const versions = { base, ours, theirs };
  if (ours === null && takeWholeChange(context, path, changesFrom(context, layer, path))) return;
  if (ours === null && takeLostFile(context, path, changesTogether(context, layer, path))) return;
  if (ours === null && base === null) takeMerge(context, layer, path, versions, DISAGREE);
  else mergeOnto(context, layer, path, versions);
}

/**
 * Returns the present path of a file that a layer names by its old path: by the core it was written against,
 * before other layers moved it.
 *
 * Two files at the old path are meant as they are: one that a dependency put there after moving the file, and
 * one that equals the layer's base to the byte.
 */
function presentName(
  { tree, mapped, renames }: MergeContext,
  layer: SkillPackage,
  named: string,
): string {
  const path = mapped(named, layer);
  const there = tree.file(path);
  if (there === null) return renames.current(path);
  if (isSameFile(there, baseFile(layer, named))) return path;
  const { skill, depends } = layer.manifest;
  return renames.current(path, new Set([skill, ...depends.map(({ name }) => name)]));
}

function mergeOnto(
  context: MergeContext,
  layer: SkillPackage,
  path: string,
  versions: Versions<TreeFile | null>,
): void {
  const kind = structuredKind(path, context.ownStructured);
  if (kind !== null) mergeKeys(context, layer, { path, kind }, versions);
  else if (context.tree.isConflicted(path)) mergeAround(context, layer, path, versions);
  else {
    const merged = context.merge(versions, { path });
    const isOpen = merged.kind === 'conflict' && merged.conflict === 'content';
    if (isOpen && takeRewrittenFile(context, path, changesTogether(context, layer, path))) return;
    takeMerge(context, layer, path, versions, merged);
  }
}

/** Merges a later layer around the open places of a file, so that its own conflicts are asked in the same round. */
function mergeAround(
  { tree, merge, resolve }: MergeContext,
  layer: SkillPackage,
  path: string,
  { base, theirs }: Versions<TreeFile | null>,
): void {
  const draft = tree.draft(path);
  if (draft === null) return;
  const joining = { layer: layer.manifest.skill, base, theirs, merge, resolve };
  tree.setDraft(path, joinLayer(draft, joining));
}

/** Merges structured files, which a customisation carries whole, key by key. */
function mergeKeys(
  { tree, resolve }: MergeContext,
  layer: SkillPackage,
  { path, kind }: { readonly path: string; readonly kind: StructuredKind },
  versions: Versions<TreeFile | null>,
): void {
  if (tree.isConflicted(path)) return;
  const name = layer.manifest.skill;
  const merged = mergeByKey({ path, kind }, versions, [tree.author(path), name], (conflict) => {
    const outcome = resolve(conflict);
    if (outcome.kind === 'resolved') tree.addResolved(outcome.resolved);
    return outcome;
  });
  for (const conflict of merged.conflicts) tree.conflict(conflict);
  if (merged.conflicts.length === 0) tree.put(path, merged.file, name);
}

/** Puts a merged file into the tree; a conflict first gets what is known of it, and waits where that is not enough. */
function takeMerge(
  context: MergeContext,
  layer: SkillPackage,
  path: string,
  versions: Versions<TreeFile | null>,
  outcome: FileMerge,
): void {
  const { tree } = context;
  if (tree.isConflicted(path)) {
    tree.setDraft(path, null);
    return;
  }
  const name = layer.manifest.skill;
  if (outcome.kind === 'clean') {
    tree.put(path, outcome.file, name);
    return;
  }
  // An unrelated change by a third layer must not make this another conflict than it was.
  const hunks = conflictHunks(outcome, versions);
  const authors = authorsOf(tree.touches(path), hunks, 'ours');
  const author = authors[0] ?? tree.author(path);
  const together = outcome.conflict === 'content' ? faultTogether(path, versions) : null;
  const reasons = {
    content:
      together === null
        ? `${author} and ${name} change the same lines.`
        : `${author} and ${name} change different lines, but with both the file ${together}.`,
    binary: `${author} and ${name} both change this binary file.`,
    'add-add': `${author} and ${name} both bring this file, with different content.`,
    'modify-delete':
      versions.theirs === null
        ? versions.base === null
          ? `${name} deletes this file without saying what it was, so ${author} may have changed it.`
          : `${name} deletes this file, but ${author} has changed it.`
        : `${name} changes this file, but ${author} does not have it.`,
  };
  // Without a base, lines are compared only by the merge of a change whose ancestor is unknown.
  const isGuess = versions.base === null && outcome.conflict === 'content';
  const reason = isGuess
    ? `${name} has no ancestor for this file, so it is unknown which of these lines it means to remove.`
    : reasons[outcome.conflict];
  const conflict: Conflict = {
    path,
    kind: outcome.conflict,
    layers: [author, name],
    authors,
    reason,
    hunks,
    sides: versions,
    values: null,
  };
  const answered = context.resolve(conflict);
  if (answered.kind === 'open') {
    if (takeWholeChange(context, path, changesFrom(context, layer, path))) return;
    tree.conflict(answered.conflict);
    if (context.isJoint) tree.setDraft(path, draftOf(answered.conflict, tree.touches(path)));
  } else {
    const { resolved } = answered;
    tree.put(path, answeredFile(conflict, resolved.answer), name, resolved);
  }
}

/**
 * Merges a changed file whose ancestor is unknown. Pure insertions are taken. Every line of ours that it
 * lacks is a disagreement: it may be newer than the package, or meant to go.
 */
function mergeWithoutBase({ ours, theirs }: Omit<Versions<TreeFile>, 'base'>): FileMerge {
  const isExecutable = ours.isExecutable || theirs.isExecutable;
  if (ours.bytes.equals(theirs.bytes)) return { kind: 'clean', file: { ...ours, isExecutable } };
  if (ours.bytes.includes(0) || theirs.bytes.includes(0)) {
    return { kind: 'conflict', conflict: 'binary', hunks: [], isExecutable };
  }
  const hunks = alignedHunks(linesOf(ours), linesOf(theirs));
  if (hunks.some(({ kind }) => kind === 'conflict')) {
    return { kind: 'conflict', conflict: 'content', hunks, isExecutable };
  }
  const text = hunks.flatMap((hunk) => (hunk.kind === 'resolved' ? hunk.lines : [])).join('');
  return { kind: 'clean', file: { bytes: Buffer.from(text, 'latin1'), isExecutable } };
}

function linesOf({ bytes }: TreeFile): readonly string[] {
  return splitLines(bytes.toString('latin1'));
}

function alignedHunks(ours: readonly string[], theirs: readonly string[]): readonly Hunk[] {
  const texts = internLines({ base: [], ours, theirs });
  const partners = diffLines(texts.ours, texts.theirs, texts.size);
  const hunks: Hunk[] = [];
  let resolved: string[] = [];
  let last = { ours: -1, theirs: -1 };
  for (let index = 0; index <= ours.length; index++) {
    const partner = index === ours.length ? theirs.length : at(partners, index);
    if (partner < 0) continue;
    const mine = ours.slice(last.ours + 1, index);
    const brought = theirs.slice(last.theirs + 1, partner);
    if (mine.length === 0) resolved.push(...brought);
    else {
      if (resolved.length > 0) hunks.push({ kind: 'resolved', lines: resolved });
      resolved = [];
      hunks.push({ kind: 'conflict', base: [], ours: mine, theirs: brought });
    }
    const kept = ours[index];
    if (kept !== undefined) resolved.push(kept);
    last = { ours: index, theirs: partner };
  }
  if (resolved.length > 0) hunks.push({ kind: 'resolved', lines: resolved });
  return hunks;
}

function conflictAt(
  { tree }: MergeContext,
  layer: SkillPackage,
  path: string,
  kind: Conflict['kind'],
  sides: Versions<TreeFile | null>,
  reason: string,
): Conflict {
  const layers = [tree.author(path), layer.manifest.skill] as const;
  return { path, kind, layers, reason, hunks: [], sides, values: null };
}
