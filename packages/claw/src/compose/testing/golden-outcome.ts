import { isSameFile, type TreeFile } from '@patchclaw/merge';
import { stringify } from 'yaml';
import { renderConflicts } from '../../../../merge/src/markers.ts';
import type { Conflict } from '../../conflict.ts';
import { customFiles } from '../../package/manifest/customisation.ts';
import type { SkillPackage } from '../../package/package.ts';
import { disputesOf } from '../answer.ts';
import type { Composition } from '../composition.ts';
import type { FileChange, TreePlan } from '../plan.ts';
import type { KnownAnswers, ResolvedConflict } from '../resolve-conflict.ts';
import { sectionText } from './golden-text.ts';

/** A plan, and what it makes of the project. */
export type PlannedOutcome = {
  readonly kind: 'planned';
  readonly plan: TreePlan;
  readonly target: Composition;
  readonly answers: KnownAnswers;
  /** The wanted layers as they are kept: a decision may have rewritten a customisation. */
  readonly layers: readonly SkillPackage[];
  /** The project's files once the plan is carried out. */
  readonly disk: (path: string) => TreeFile | null;
  /** Customisations that a decision rewrote; null for one that has nothing left to change. */
  readonly rewritten: ReadonlyMap<string, SkillPackage | null>;
  /** Files that the owner had already as the layers make them. */
  readonly adopted: readonly string[];
  /** Layers that change nothing. */
  readonly idle: readonly string[];
};

/** All that comes of a golden case. */
export type GoldenOutcome =
  | PlannedOutcome
  | { readonly kind: 'refused'; readonly code: string; readonly message: string };

/** Writes an outcome as the second part of a golden file. */
export function outcomeText(outcome: GoldenOutcome): string {
  if (outcome.kind === 'refused') {
    return sectionText(`refused: ${outcome.code}`, [], `${outcome.message}\n`);
  }
  const { plan, target, rewritten, adopted } = outcome;
  const isIdle = plan.changes.length + plan.conflicts.length === 0;
  return [
    ...(isIdle ? ['-- plan: nothing\n'] : []),
    ...plan.changes.map((change) => changeText(change, target)),
    ...plan.conflicts.map(conflictText),
    ...[...target.resolvedConflicts, ...plan.resolvedConflicts].map(resolvedText),
    ...[...rewritten].map(([name, layer]) => rewrittenText(name, layer)),
    ...(plan.conflicts.length > 0 ? [] : treeTexts(outcome)),
    ...adopted.map((path) => `-- adopted: ${path}\n`),
  ].join('');
}

/** Describes a composed tree that is published. */
function treeTexts({ target, disk, idle }: PlannedOutcome): readonly string[] {
  const sorted = [...target.files].sort(([one], [other]) => (one < other ? -1 : 1));
  const edited = sorted.filter(([path, { file }]) => !isSameFile(file, disk(path)));
  return [
    ...edited.map(([path, { file }]) => {
      const flags = file === null ? ['absent'] : modeFlags(null, file);
      const shown = [...flags, ...authorFlags(target, path)];
      return sectionText(`composed: ${path}`, shown, file?.bytes.toString() ?? '');
    }),
    ...Object.entries(target.structured).map(([path, values]) =>
      sectionText(`resolved: ${path}`, [], stringify(values)),
    ),
    ...idle.map((name) => `-- without effect: ${name}\n`),
  ];
}

function changeText({ path, before, after, movedFrom }: FileChange, target: Composition): string {
  const flags = [...modeFlags(before, after), ...authorFlags(target, path)];
  if (after === null) return sectionText(`plan: delete ${path}`, flags, '');
  const deed = movedFrom !== null ? `move ${movedFrom} to` : before === null ? 'add' : 'change';
  return sectionText(`plan: ${deed} ${path}`, flags, after.bytes.toString());
}

function modeFlags(before: TreeFile | null, after: TreeFile | null): readonly string[] {
  if (after?.isExecutable) return ['executable'];
  return after !== null && before?.isExecutable ? ['no longer executable'] : [];
}

function authorFlags({ files }: Composition, path: string): readonly string[] {
  const layers = files.get(path)?.layers ?? [];
  return layers.length > 0 ? [`by ${layers.join(', ')}`] : [];
}

function conflictText(conflict: Conflict): string {
  const { path, kind, layers, reason, values, sides, hunks } = conflict;
  const heading = `conflict: ${kind} in ${path} between ${layers.join(' and ')}`;
  const names = ['base', layers[0], layers[1]];
  if (values !== null) {
    const wanted = [values.base, values.ours, values.theirs].map(
      (value, at) => `${names[at]}: ${value === null ? 'nothing' : JSON.stringify(value)}\n`,
    );
    return sectionText(heading, [], `${reason}\n${wanted.join('')}`);
  }
  if (hunks.length > 0) return sectionText(heading, [], `${reason}\n${markedText(conflict)}`);
  const shown = [sides.base, sides.ours, sides.theirs].map(
    (file, at) => `${names[at]}: ${file === null ? 'absent' : sizeOf(file)}\n`,
  );
  return sectionText(heading, [], `${reason}\n${shown.join('')}`);
}

function sizeOf({ bytes, isExecutable }: TreeFile): string {
  return `${bytes.length} bytes${isExecutable ? ', executable' : ''}`;
}

/** Returns the file with markers that name the two sides of each hunk. */
function markedText(conflict: Conflict): string {
  const labels = disputesOf(conflict).map(({ layers: [ours, theirs] }) => ({
    base: 'base',
    ours,
    theirs,
  }));
  const { text } = renderConflicts(conflict.hunks, labels);
  return Buffer.from(text, 'latin1').toString();
}

function resolvedText({ conflict, decision }: ResolvedConflict): string {
  const by = decision === null ? 'by the recording' : 'by the decision';
  return `-- resolved: ${conflict.path} between ${conflict.layers.join(' and ')} (${by})\n`;
}

function rewrittenText(name: string, layer: SkillPackage | null): string {
  if (layer === null) return `-- dropped: customisation ${name}\n`;
  const head = `rewritten: customisation ${name} ${layer.manifest.version}:`;
  const texts = customFiles(layer).map(({ path, before, after }) => {
    if (after === null) return sectionText(`${head} delete ${path}`, [], '');
    const deed = before === null ? 'add' : 'modify';
    const base =
      before === null ? '' : sectionText(`${head} base ${path}`, [], before.bytes.toString());
    return base + sectionText(`${head} ${deed} ${path}`, [], after.bytes.toString());
  });
  return texts.join('');
}
