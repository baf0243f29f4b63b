import { expect, test } from 'vitest';
import type { JobVerdict } from '../../../packages/claw/src/index.ts';
import {
  HOME,
  isSameVerdict,
  isSampled,
  ProofLedger,
} from '../../../src/proof-runners/far/proof-ledger.ts';

const GOOD: JobVerdict = { failures: [], warnings: [], ms: 5 };
const bad = (name: string, output = ''): JobVerdict => ({
  failures: [{ kind: 'test', name, text: 'fails', output }],
  warnings: [],
  ms: 7,
});
const ledger = (percent: number, distrusted: readonly string[] = []) =>
  new ProofLedger({ seed: 'a seed', percent, distrusted });
const JOBS = Array.from({ length: 1_000 }, (_, at) => `sha256:${at}`);

test('the seed chooses the share that was asked for, and always the same one', () => {
  const chosen = JOBS.filter((job) => isSampled('a seed', job, 10));
  expect(chosen.length).toBeGreaterThan(60);
  expect(chosen.length).toBeLessThan(140);
  expect(JOBS.filter((job) => isSampled('a seed', job, 10))).toEqual(chosen);
  expect(JOBS.filter((job) => isSampled('another', job, 10))).not.toEqual(chosen);
  expect(JOBS.every((job) => isSampled('a seed', job, 100))).toBe(true);
});

test('verdicts are the same where the same things fail, whatever was printed and however long it took', () => {
  expect(isSameVerdict(bad('one', 'x'), { ...bad('one', 'y'), ms: 9 })).toBe(true);
  expect(isSameVerdict(bad('one'), bad('other'))).toBe(false);
  expect(isSameVerdict(bad('one'), GOOD)).toBe(false);
});

test('a job that is not chosen counts after one opinion, one that is after two', () => {
  const once = ledger(1);
  const job = JOBS.find((one) => !isSampled('a seed', one, 1)) ?? '';
  expect(once.next(job)).toEqual({ kind: 'ask', not: new Set() });
  once.say(job, 'nas', GOOD);
  expect(once.next(job)).toEqual({ kind: 'accepted', verdict: GOOD, by: 'nas' });
  const twice = ledger(100);
  twice.say(job, 'nas', GOOD);
  expect(twice.next(job)).toEqual({ kind: 'ask', not: new Set(['nas']) });
  twice.say(job, 'desk', { ...GOOD, ms: 900 });
  expect(twice.next(job)).toEqual({ kind: 'accepted', verdict: GOOD, by: 'nas' });
});

test('a machine that could not run a job is not asked for it again', () => {
  const one = ledger(1);
  one.fail('job', 'nas');
  expect(one.next('job')).toEqual({ kind: 'ask', not: new Set(['nas']) });
});

test('where two differ the home decides; all that the liar said is decided anew', () => {
  const one = ledger(100);
  one.say('a', 'eve', GOOD);
  one.say('a', 'nas', GOOD);
  expect(one.next('a')).toMatchObject({ kind: 'accepted', by: 'eve' });
  one.say('c', 'eve', bad('c'));
  one.say('b', 'nas', bad('skill'));
  one.say('b', 'eve', GOOD);
  expect(one.next('b')).toEqual({ kind: 'ask-home' });
  const nothing = { liars: [], withdrawn: [], isUnsteady: false };
  expect(one.sayHome('b', bad('skill'))).toEqual(nothing);
  expect(one.next('b')).toEqual({ kind: 'ask-home' });
  expect(one.sayHome('b', bad('skill', 'again'))).toEqual({ ...nothing, liars: ['eve'] });
  expect(one.next('b')).toMatchObject({ kind: 'accepted', by: HOME });
  expect(one.isDistrusted('eve')).toBe(true);
  // The other machine has said the same of it.
  expect(one.next('a')).toMatchObject({ kind: 'accepted', by: 'nas' });
  one.say('c', 'eve', GOOD);
  expect(one.next('c')).toEqual({ kind: 'ask', not: new Set(['eve']) });
});

test('what counted on a liar alone is withdrawn, also where an earlier run knew it', () => {
  const one = ledger(1);
  const [known = '', said = '', checked = ''] = JOBS.filter((job) => !isSampled('a seed', job, 1));
  one.remember(known, GOOD, 'eve', true);
  one.say(said, 'eve', GOOD);
  expect(one.next(known)).toMatchObject({ by: 'eve' });
  expect(one.next(said)).toMatchObject({ by: 'eve' });
  one.say(checked, 'eve', GOOD);
  one.sayHome(checked, bad('skill'));
  expect(one.sayHome(checked, bad('skill')).withdrawn).toEqual([known, said]);
  expect(one.next(known)).toEqual({ kind: 'ask', not: new Set(['eve']) });
  const later = ledger(1, ['eve']);
  later.remember(known, GOOD, 'eve', true);
  expect(later.next(known)).toMatchObject({ kind: 'ask' });
});

test('a test that is not steady makes nobody a liar, and does not pass', () => {
  const one = ledger(100);
  one.say('job', 'nas', GOOD);
  one.say('job', 'desk', bad('skill'));
  one.sayHome('job', GOOD);
  const found = one.sayHome('job', bad('skill'));
  expect(found).toEqual({ liars: [], withdrawn: [], isUnsteady: true });
  expect(one.next('job')).toMatchObject({ kind: 'accepted', verdict: bad('skill'), by: HOME });
});

test('each machine gets one second opinion, if the seed chose none of its jobs', () => {
  const one = ledger(1);
  const [first = '', second = '', third = ''] = JOBS.filter((job) => !isSampled('a seed', job, 1));
  one.say(first, 'nas', GOOD);
  one.say(second, 'nas', GOOD);
  one.say(third, 'desk', GOOD);
  for (const job of [first, second, third])
    expect(one.next(job)).toMatchObject({ kind: 'accepted' });
  const checks = one.checkEachMachine();
  expect(checks).toHaveLength(2);
  expect(checks).toContain(third);
  for (const job of checks) {
    expect(one.next(job).kind).toBe('ask');
    one.say(job, job === third ? 'nas' : 'desk', GOOD);
    expect(one.next(job).kind).toBe('accepted');
  }
  expect(one.checkEachMachine()).toEqual([]);
  const known = ledger(1);
  known.remember(first, GOOD, 'nas', true);
  expect(known.next(first).kind).toBe('accepted');
  expect(known.checkEachMachine()).toEqual([]);
  // The run that it is from was killed before it had any.
  const halfKnown = ledger(1);
  halfKnown.remember(first, GOOD, 'nas', false);
  expect(halfKnown.checkEachMachine()).toEqual([first]);
});
