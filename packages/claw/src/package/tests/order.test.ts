import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ClawError } from '../../errors.ts';
import { checkCoreVersion } from '../manifest/core-version.ts';
import { nearestNames } from '../nearest-names.ts';
import { checkRelations, dependencesOf, orderLayers } from '../order.ts';
import type { SkillPackage } from '../package.ts';
import { packageFiles } from '../package-fixture.ts';
import { packageFromFiles } from '../package-from-files.ts';
import { errorOf } from '../testing/error-of.ts';

function skill(name: string, keys: Readonly<Record<string, unknown>> = {}): SkillPackage {
  return packageFromFiles(packageFiles({ name, manifest: keys }), { protectedPaths: [] });
}

function namesOf(skills: readonly SkillPackage[]): readonly string[] {
  return skills.map(({ manifest }) => manifest.skill);
}

test('dependencies come first, then the smallest name that is ready', () => {
  const set = [
    skill('a', { depends: ['z'] }),
    skill('b'),
    skill('m', { depends: ['a', 'b'] }),
    skill('z'),
    skill('c', { depends: ['not-here'] }),
  ];
  expect(namesOf(orderLayers(set))).toEqual(['b', 'c', 'z', 'a', 'm']);
});

test('the order in which skills come in does not count', () => {
  const set = [
    skill('a', { depends: ['c'] }),
    skill('b'),
    skill('c'),
    skill('d', { depends: ['b'] }),
  ];
  fc.assert(
    fc.property(fc.shuffledSubarray(set, { minLength: set.length }), (shuffled) => {
      expect(namesOf(orderLayers(shuffled))).toEqual(['b', 'c', 'a', 'd']);
    }),
    { numRuns: 24 },
  );
});

test('a cycle is named', () => {
  const set = [
    skill('a', { depends: ['b'] }),
    skill('b', { depends: ['c'] }),
    skill('c', { depends: ['b'] }),
  ];
  try {
    orderLayers(set);
    expect.unreachable();
  } catch (error) {
    expect(error).toBeInstanceOf(ClawError);
    expect(error).toMatchObject({ code: 'GRAPH_INVALID', data: { cycle: ['b', 'c', 'b'] } });
  }
});

test('a set with the same name twice is refused', () => {
  expect(errorOf(() => orderLayers([skill('a'), skill('a')]))?.code).toBe('GRAPH_INVALID');
});

test('a dependence that is missing or too old is said with its names', () => {
  const needing = skill('a', { depends: ['b@^2.0.0'] });
  expect(() => checkRelations([needing])).toThrow(
    expect.objectContaining({
      code: 'SKILL_NEEDED',
      data: { skill: 'a', needed: 'b', range: '^2.0.0', found: null },
    }),
  );
  expect(() => checkRelations([needing, skill('b')])).toThrow(
    expect.objectContaining({
      code: 'SKILL_NEEDED',
      data: { skill: 'a', needed: 'b', range: '^2.0.0', found: '1.0.0' },
    }),
  );
  expect(errorOf(() => checkRelations([needing, skill('b', { version: '2.1.0' })]))).toBeNull();
  const any = skill('a', { depends: ['b'] });
  expect(errorOf(() => checkRelations([any, skill('b', { version: '3.0.0-rc.1' })]))).toBeNull();
});

test('a conflict is honoured whichever side says it', () => {
  const hostile = skill('b', { conflicts: ['a'] });
  for (const set of [
    [skill('a'), hostile],
    [hostile, skill('a')],
  ]) {
    expect(() => checkRelations(set)).toThrow(
      expect.objectContaining({ code: 'SKILL_CONFLICT', data: { skill: 'b', other: 'a' } }),
    );
  }
  expect(errorOf(() => checkRelations([hostile]))).toBeNull();
});

test('a package written against a newer core is refused', () => {
  const { manifest } = skill('a', { core_version: '0.2.0' });
  expect(errorOf(() => checkCoreVersion(manifest, '0.1.9'))).toEqual({
    code: 'CORE_TOO_OLD',
    path: 'manifest.yaml:core_version',
  });
  expect(errorOf(() => checkCoreVersion(manifest, '0.2.0'))).toBeNull();
});

test('a core without a version that can be compared takes every package', () => {
  const { manifest } = skill('a', { core_version: '0.2.0' });
  expect(errorOf(() => checkCoreVersion(manifest, null))).toBeNull();
  expect(errorOf(() => checkCoreVersion(manifest, 'unknown'))).toBeNull();
});

test('the nearest names are those a few typing errors away, or that hold the name', () => {
  const names = ['slack', 'telegram', 'discord', 'signal', 'teams', 'telegram-swarm'];
  expect(nearestNames('telgeram', names, 3)).toEqual(['telegram']);
  expect(nearestNames('slcak', names, 3)).toEqual(['slack']);
  expect(nearestNames('tele', names, 3)).toEqual(['telegram', 'telegram-swarm']);
  expect(nearestNames('add-slack', names, 3)).toEqual(['slack']);
  expect(nearestNames('gmail', names, 3)).toEqual([]);
  expect(nearestNames('x', [], 3)).toEqual([]);
});

test('a dependency of many skills is looked up once, however many ways lead to it', () => {
  const name = (at: number) => `s${String(at).padStart(2, '0')}`;
  const set = Array.from({ length: 30 }, (_, at) =>
    skill(name(at), { depends: Array.from({ length: at }, (_, before) => name(before)) }),
  );
  const asked: string[] = [];
  const needed = dependencesOf(set.slice(-1), (one) => {
    asked.push(one);
    return set.find(({ manifest }) => manifest.skill === one);
  });
  expect(namesOf(needed).toSorted()).toEqual(namesOf(set.slice(0, -1)));
  expect(asked.toSorted()).toEqual(namesOf(set.slice(0, -1)));
});

test('a dependency cycle or a missing skill does not hide the other dependencies', () => {
  const set = [skill('a', { depends: ['b'] }), skill('b', { depends: ['a', 'gone'] })];
  const find = (one: string) => set.find(({ manifest }) => manifest.skill === one);
  expect(namesOf(dependencesOf(set.slice(0, 1), find))).toEqual(['b']);
});
