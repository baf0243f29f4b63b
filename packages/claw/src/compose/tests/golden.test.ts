import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ClawError } from '../../errors.ts';
import type { SkillPackage } from '../../package/package.ts';
import { compose } from '../compose.ts';
import { renamesOf } from '../files/renames.ts';
import { planTree } from '../plan.ts';
import { type KnownAnswers, NO_ANSWERS } from '../resolve-conflict.ts';
import { withAnswer } from '../testing/golden-answer.ts';
import { type GoldenCase, readCase } from '../testing/golden-case.ts';
import { type GoldenOutcome, outcomeText } from '../testing/golden-outcome.ts';
import { fileIn, lookUp, planCase, recordingsAfter } from '../testing/golden-plan.ts';
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

/** Turns the order of the skills round; customisations keep the order in which they were made. */
function turn(layers: readonly SkillPackage[]): readonly SkillPackage[] {
  const skills = layers.filter(({ kind }) => kind === 'skill');
  return [...skills.toReversed(), ...layers.filter(({ kind }) => kind !== 'skill')];
}
