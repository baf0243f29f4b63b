import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as engine from '../../../packages/claw/src/index.ts';
import {
  addSkill,
  type Codebase,
  type Files,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';
import { contextOf } from '../in-process.ts';
import { versioned } from '../releases.ts';

const RUNS = Number(process.env['CLAW_UPDATE_RUNS'] ?? 20);
const COUNT = 6;
const SKILLS = 3;

/** The fate of one core file: changes by the release, by skills and by the owner. */
const GeneratedFile = fc.record({
  /** The file's place in the next release: one among all places, or none. */
  place: fc.nat(2 * COUNT - 1),
  isMoved: fc.boolean(),
  isChanged: fc.boolean(),
  isGone: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
  skills: fc.array(fc.boolean(), { minLength: SKILLS, maxLength: SKILLS }),
  isEdited: fc.boolean(),
  isRecorded: fc.boolean(),
  /** Edited on the new core, before the update is undone. */
  isLater: fc.boolean(),
  /** Moved by a skill as well. */
  isRenamed: fc.boolean(),
});
const Case = fc.record({
  files: fc.array(GeneratedFile, { minLength: COUNT, maxLength: COUNT }),
  isFolderMoved: fc.boolean(),
});

type Line = 'skill0' | 'skill1' | 'skill2' | 'recorded' | 'edited' | 'release' | 'later';
const AT: Readonly<Record<Line, number>> = {
  skill0: 1,
  skill1: 3,
  skill2: 5,
  recorded: 7,
  edited: 9,
  release: 11,
  later: 13,
};

/** A text of its own for each file, in which everybody changes another line. */
function text(name: number, changed: readonly Line[]): string {
  const lines = Array.from({ length: 15 }, (_, at) => `${name} line ${at}`);
  for (const line of changed) lines[AT[line]] = `${name} ${line}`;
  return `${lines.join('\n')}\n`;
}

const pathAt = (place: number): string => `src/f${place}.txt`;
const renamedTo = (name: number): string => `moved/${name}.txt`;
const skillFile = (skill: number, folder: string) => `${folder}/skill${skill}.txt`;

type Model = ReturnType<typeof modelOf>;

/** Returns the place of every file: no deleted file is touched, and each place holds one file. */
function modelOf({ files, isFolderMoved }: typeof Case extends fc.Arbitrary<infer T> ? T : never) {
  const taken = new Set<number>();
  const resolved = files.map((file, name) => {
    const isTouched =
      file.isEdited ||
      file.isRecorded ||
      file.isLater ||
      file.isRenamed ||
      file.skills.some((one) => one);
    const isGone = file.isGone && !isTouched;
    const wishes = [
      ...(file.isMoved ? [file.place] : []),
      name,
      ...Array.from({ length: 2 * COUNT }, (_, at) => at),
    ];
    const place = isGone ? null : (wishes.find((wish) => !taken.has(wish)) ?? null);
    if (place !== null) taken.add(place);
    return { ...file, name, place };
  });
  return { files: resolved, folder: isFolderMoved ? 'new' : 'old' };
}

function skillsOf(file: Model['files'][number], count = SKILLS): Line[] {
  return file.skills.slice(0, count).flatMap((isOn, at) => (isOn ? [`skill${at}` as Line] : []));
}

function ownersOf({ isEdited, isRecorded }: Model['files'][number]): Line[] {
  return [
    ...(isRecorded ? (['recorded'] as const) : []),
    ...(isEdited ? (['edited'] as const) : []),
  ];
}

/** The tree of one of the two cores, with what skills and the owner make of it. */
function treeOf(
  model: Model,
  core: 'first' | 'next',
  who: 'nobody' | 'owner' | 'everybody' | 'later',
): Files {
  const tree: Record<string, string> = {
    'package.json': versioned(core === 'first' ? '1.0.0' : '1.1.0'),
  };
  const folder = core === 'first' ? 'old' : model.folder;
  const hasSkills = who === 'everybody' || who === 'later';
  for (const file of model.files) {
    const place = core === 'first' ? file.name : file.place;
    if (place === null) continue;
    const path = hasSkills && file.isRenamed ? renamedTo(file.name) : pathAt(place);
    tree[path] = text(file.name, [
      ...(hasSkills ? skillsOf(file) : []),
      ...(who === 'nobody' ? [] : ownersOf(file)),
      ...(core === 'next' && file.isChanged ? (['release'] as const) : []),
      ...(who === 'later' && file.isLater ? (['later'] as const) : []),
    ]);
  }
  tree[`${folder}/core.txt`] = 'core\n';
  if (hasSkills) {
    for (let at = 0; at < SKILLS; at += 1) tree[skillFile(at, folder)] = `skill ${at}\n`;
  }
  if (core === 'next') tree['migrations.yaml'] = migrationsOf(model);
  return tree;
}

function migrationsOf({ files, folder }: Model): string {
  const moves = files.flatMap(({ name, place }) =>
    place === null || place === name ? [] : [[pathAt(name), pathAt(place)] as const],
  );
  const paths = Object.fromEntries([...moves, ...(folder === 'new' ? [['old/', 'new/']] : [])]);
  return Object.keys(paths).length === 0
    ? '[]\n'
    : `${JSON.stringify([{ since: '1.1.0', path_map: paths }])}\n`;
}

function projectOf(codebase: Codebase): object {
  return Object.fromEntries(
    Object.entries(codebase.tree()).filter(
      ([path]) => !path.endsWith('/') && !path.startsWith('skills/'),
    ),
  );
}

async function done(work: Promise<engine.VerbResult>): Promise<void> {
  const { outcome, error, conflicts } = await work;
  expect({
    outcome,
    error,
    conflicts: conflicts.map(({ path, reason }) => ({ path, reason })),
  }).toEqual({
    outcome: expect.stringMatching(/done|nothing/),
    error: null,
    conflicts: [],
  });
}

async function expectLaws(model: Model): Promise<void> {
  await using next = temporaryCodebase(treeOf(model, 'next', 'nobody'));
  await using first = temporaryCodebase(treeOf(model, 'first', 'nobody'));
  await using codebase = temporaryCodebase(treeOf(model, 'first', 'nobody'));
  const context = contextOf(codebase);
  for (let at = 0; at < SKILLS; at += 1) {
    const own = model.files.filter((file) => file.skills[at]);
    addSkill(codebase, `skill${at}`, {
      add: { [skillFile(at, 'old')]: `skill ${at}\n` },
      modify: Object.fromEntries(
        own.map(({ name }) => [
          pathAt(name),
          [text(name, []), text(name, [`skill${at}` as Line])] as const,
        ]),
      ),
    });
  }
  const renamed = model.files.filter((file) => file.isRenamed).map(({ name }) => name);
  addSkill(codebase, 'mover', {
    base: Object.fromEntries(renamed.map((name) => [pathAt(name), text(name, [])])),
    manifest: {
      file_ops: renamed.map((name) => ({
        type: 'rename',
        from: pathAt(name),
        to: renamedTo(name),
      })),
    },
  });
  const skills = ['skill0', 'skill1', 'skill2', 'mover'];
  const edit = (who: (file: Model['files'][number]) => readonly Line[]) => {
    for (const file of model.files) {
      const path = file.isRenamed ? renamedTo(file.name) : pathAt(file.name);
      const lines = who(file);
      if (lines.length > 0) {
        codebase.write({ [path]: text(file.name, [...skillsOf(file), ...lines]) });
      }
    }
  };
  await done(engine.init(context, { release: null, coreVersion: null }));
  await done(engine.apply(context, skills));
  edit((file) => (file.isRecorded ? ['recorded'] : []));
  await done(engine.customize(context, 'recorded'));
  edit(ownersOf);
  const before = codebase.tree();
  expect(projectOf(codebase)).toEqual(treeOf(model, 'first', 'everybody'));
  await done(engine.update(context, next.root, { release: null }));
  expect(projectOf(codebase)).toEqual(treeOf(model, 'next', 'everybody'));
  expect((await engine.verify(context)).data).toMatchObject({ damaged: [], recomposed: [] });
  codebase.write(treeOf(model, 'next', 'later'));
  await done(engine.undo(context));
  expect(projectOf(codebase)).toEqual(treeOf(model, 'first', 'later'));
  codebase.write(treeOf(model, 'first', 'everybody'));
  expect(codebase.tree()).toEqual(before);
  await done(engine.update(context, next.root, { release: null }));
  await done(engine.update(context, first.root, { release: null }));
  expect(codebase.tree()).toEqual(before);
  await done(engine.update(context, next.root, { release: null }));
  await done(engine.remove(context, skills));
  expect(projectOf(codebase)).toEqual(treeOf(model, 'next', 'owner'));
}

test(`${RUNS} random releases: an update is the same skills and edits on the new core, and there is a way back`, async () => {
  await fc.assert(
    fc.asyncProperty(Case, async (drawn) => await expectLaws(modelOf(drawn))),
    { numRuns: RUNS },
  );
}, 900_000);
