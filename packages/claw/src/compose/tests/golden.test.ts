import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tree, TreeFile } from '@patchclaw/merge';
import { describe, expect, test } from 'vitest';
import { OWNER } from '../../conflict.ts';
import { digestBytes } from '../../digest.ts';
import { ClawError } from '../../errors.ts';
import { type Resolution, resolutionKey, subjectOf } from '../../installed/resolution.ts';
import {
  alreadyPresentPaths,
  refreshCustomisationBases,
} from '../../operation/planned-tree/planned-tree.ts';
import { orderLayers } from '../../package/order.ts';
import { hasChanges } from '../../package/origin.ts';
import type { SkillPackage } from '../../package/package.ts';
import { checkCollisionsOf } from '../collisions.ts';
import { compose } from '../compose.ts';
import type { Composition } from '../composition.ts';
import { layersWithEffect } from '../effect.ts';
import { renamesOf } from '../files/renames.ts';
import { planTree } from '../plan.ts';
import { type KnownAnswers, NO_ANSWERS } from '../resolve-conflict.ts';
import { withAnswer } from '../testing/golden-answer.ts';
import { coreChange, type GoldenCase, readCase } from '../testing/golden-case.ts';
import { type GoldenOutcome, outcomeText, type PlannedOutcome } from '../testing/golden-outcome.ts';
import { readGolden, withOutcome } from '../testing/golden-text.ts';

const FOLDER = join(import.meta.dirname, '../golden');
const README = join(FOLDER, 'README.md');
const ENDING = '.golden.txt';
const LIST = '## The plans\n\n';
const IS_UPDATE = process.env['UPDATE_GOLDEN'] !== undefined;

const names = readdirSync(FOLDER).filter((name) => name !== 'README.md');
const goldens = names.map((name) => {
  const golden = readGolden(readFileSync(join(FOLDER, name), 'utf8'));
  let known: GoldenOutcome | null = null;
  const outcome = () => {
    known ??= outcomeOf(readCase(golden.sections));
    return known;
  };
  return { name, golden, outcome };
});

describe('golden plans', () => {
  test.each(goldens)('$name', ({ name, golden, outcome }) => {
    const text = outcomeText(outcome());
    if (IS_UPDATE) writeFileSync(join(FOLDER, name), withOutcome(golden, text));
    else expect(text).toBe(golden.outcome);
  });
});

describe('the order in which layers are given decides nothing', () => {
  test.each(goldens)('$name', ({ golden, outcome }) => {
    const given = readCase(golden.sections);
    const turned = { ...given, installed: turn(given.installed), wanted: turn(given.wanted) };
    expect(outcomeText(outcomeOf(turned))).toBe(outcomeText(outcome()));
  });
});

describe('a plan that was carried out leaves nothing to do', () => {
  test.each(goldens)('$name', ({ golden, outcome }) => {
    const given = readCase(golden.sections);
    const first = outcome();
    if (first.kind === 'refused' || first.plan.conflicts.length > 0) return;
    const { layers, disk } = first;
    const answers = { decisions: [], resolutions: recordingsAfter(first) };
    const release = lookUp(given.newRelease);
    const target = compose({ release, layers, answers, pathMaps: given.pathMaps });
    const old = {
      file: fileIn(target, release),
      paths: target.files.keys(),
      renames: renamesOf(layers, given.pathMaps),
    };
    const again = planTree({ old, disk, release, target, answers });
    expect(target.conflicts).toEqual([]);
    expect(again).toEqual({ changes: [], conflicts: [], resolvedConflicts: [] });
  });
});

test('the README lists every golden plan by its title, and no two titles are the same', () => {
  const titles = goldens.map(({ golden }) => golden.title);
  expect(titles.filter((title, at) => titles.indexOf(title) !== at)).toEqual([]);
  expect(names.filter((name) => !name.endsWith(ENDING))).toEqual([]);
  expect(names.length).toBeGreaterThanOrEqual(40);
  const list = goldens.map(({ name, golden }) => `- [${golden.title}](${name})\n`).join('');
  const readme = readFileSync(README, 'utf8');
  const listed = `${readme.slice(0, readme.indexOf(LIST))}${LIST}${list}`;
  if (IS_UPDATE) writeFileSync(README, listed);
  else expect(readme).toBe(listed);
});

/** Plans a case; what the engine refuses by an error is an outcome as well. */
function outcomeOf(given: GoldenCase): GoldenOutcome {
  try {
    const unanswered = planCase(given, NO_ANSWERS).plan.conflicts;
    const known = given.answers.reduce((answers: KnownAnswers, one) => {
      const left = planCase(given, answers).plan.conflicts;
      return withAnswer(answers, one, [...left, ...unanswered]);
    }, NO_ANSWERS);
    return planCase(given, known);
  } catch (error) {
    if (!(error instanceof ClawError)) throw error;
    return { kind: 'refused', code: error.code, message: error.message };
  }
}

/** Composes and plans as `operation/target/target.ts` does, with trees in place of folders. */
function planCase(given: GoldenCase, answers: KnownAnswers): PlannedOutcome {
  const oldRelease = lookUp(given.release);
  const installed = orderLayers(given.installed);
  const old = compose({ release: oldRelease, layers: installed, answers });
  expect(old.conflicts).toEqual([]);
  const published = fileIn(old, oldRelease);
  const before = (path: string) => {
    const edited = given.edits.get(path);
    return edited === undefined ? published(path) : edited;
  };
  const core = coreChange(given, old.files.keys());
  const release = lookUp(given.newRelease);
  const { pathMaps } = given;
  const ordered = orderLayers(given.wanted);
  const target = compose({ release, layers: ordered, answers, pathMaps, isJoint: true });
  const brought = core.changed.filter((path) => !given.release.has(path));
  checkCollisionsOf(target, { release, brought, isHeld: (path) => old.files.has(path) });
  const plan = planTree({
    old: {
      file: published,
      paths: [...old.files.keys(), ...core.changed],
      renames: renamesOf(installed, []),
    },
    disk: before,
    release,
    target,
    coreMoves: core.moves,
    answers,
  });
  const changes = new Map(plan.changes.map((change) => [change.path, change]));
  expect(changes.size).toBe(plan.changes.length);
  for (const change of plan.changes) expect(change.before).toEqual(before(change.path));
  const layers = refreshCustomisationBases(ordered, target, pathMaps);
  const effective = layersWithEffect(target, release);
  return {
    kind: 'planned',
    plan,
    target,
    answers,
    layers,
    disk: (path) => {
      const change = changes.get(path);
      return change === undefined ? before(path) : change.after;
    },
    rewritten: rewrittenOf(ordered, layers),
    adopted: alreadyPresentPaths(target, { disk: before, published }),
    idle: layers
      .filter(({ manifest }) => hasChanges(manifest) && !effective.has(manifest.skill))
      .map(({ manifest }) => manifest.skill),
  };
}

/**
 * Returns the recordings that the command leaves: it keeps its decisions, except those on the owner's own
 * work.
 */
function recordingsAfter({ answers, plan, target, layers }: PlannedOutcome): readonly Resolution[] {
  const own = new Set(
    layers.filter(({ kind }) => kind === 'customisation').map(({ manifest }) => manifest.skill),
  );
  const made = [...target.resolvedConflicts, ...plan.resolvedConflicts].flatMap(
    ({ conflict, answer, decision }) => {
      const isOwners = conflict.layers[0] === OWNER || own.has(conflict.layers[1]);
      if (decision === null || isOwners) return [];
      const subject = subjectOf(conflict);
      const key = resolutionKey(subject, answer);
      return [{ key, subject, answer, origin: 'owner', digest: digestBytes(key), isOwn: true }];
    },
  );
  return [...answers.resolutions, ...made];
}

function rewrittenOf(
  before: readonly SkillPackage[],
  after: readonly SkillPackage[],
): ReadonlyMap<string, SkillPackage | null> {
  const found = new Map(after.map((layer) => [layer.manifest.skill, layer]));
  const names = before.map((layer) => [layer, found.get(layer.manifest.skill) ?? null] as const);
  return new Map(
    names.flatMap(([layer, now]) => (layer === now ? [] : [[layer.manifest.skill, now]])),
  );
}

function fileIn(
  { files }: Composition,
  release: (path: string) => TreeFile | null,
): (path: string) => TreeFile | null {
  return (path) => {
    const composed = files.get(path);
    return composed === undefined ? release(path) : composed.file;
  };
}

function lookUp(tree: Tree): (path: string) => TreeFile | null {
  return (path) => tree.get(path) ?? null;
}

/** Turns the order of the skills round; customisations keep the order in which they were made. */
function turn(layers: readonly SkillPackage[]): readonly SkillPackage[] {
  const skills = layers.filter(({ kind }) => kind === 'skill');
  return [...skills.toReversed(), ...layers.filter(({ kind }) => kind !== 'skill')];
}
