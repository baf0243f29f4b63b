import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { type Codebase, commitAll, temporaryCodebase } from '../src/testing/claw/codebase.ts';
import { allChannelsAnswer } from './story/all-channels.ts';
import { cloneRepository } from './story/clone.ts';

const HOME = join(import.meta.dirname, '..');
const NAMES = readdirSync(join(HOME, 'skills'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort();

/** The owner changes what a default is here. */
const EDITED = 'src/config.ts';

const Manifest = z.object({ depends: z.array(z.string()).default([]) });

const Config = z.looseObject({
  check: z.unknown(),
  keep: z.unknown(),
  related: z.unknown(),
  test: z.string(),
});

/** This repository without its checks and tests, which are proved by the matrix: here it is about texts. */
function repository(): Codebase {
  const codebase = temporaryCodebase({});
  const listed = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], {
    cwd: HOME,
    encoding: 'utf8',
  });
  for (const path of listed
    .split('\0')
    .filter((one) => one !== '' && existsSync(join(HOME, one)))) {
    cpSync(join(HOME, path), codebase.path(path));
  }
  const { check, keep, related, ...config } = Config.parse(
    parse(codebase.read('claw.config.yaml')),
  );
  expect([check, keep, related].every((one) => one !== undefined)).toBe(true);
  codebase.write({ 'claw.config.yaml': stringify({ ...config, test: 'true' }) });
  codebase.git('init', '--quiet', '--initial-branch=main');
  commitAll(codebase, 'the release');
  codebase.git('tag', 'v0.1.0');
  return codebase;
}

/** Puts what a skill needs before it. */
function afterNeeds(codebase: Codebase, order: readonly string[]): readonly string[] {
  const sorted: string[] = [];
  const add = (name: string): void => {
    if (sorted.includes(name)) return;
    const manifest = Manifest.parse(parse(codebase.read(`skills/${name}/manifest.yaml`)));
    for (const need of manifest.depends) add(need.split('@')[0] ?? need);
    sorted.push(name);
  };
  order.forEach(add);
  return sorted;
}

async function change(codebase: Codebase, verb: 'apply' | 'remove', names: readonly string[]) {
  const run = await codebase.claw(verb, ...names, '--no-install');
  expect(run.json.error, `${verb} ${names.join(' ')}`).toBeNull();
  expect(run.json.conflicts).toEqual([]);
}

test('all skills together are one tree in three orders, and removed in another they leave nothing', async () => {
  await using codebase = repository();
  const released = codebase.tree();
  await change(codebase, 'apply', NAMES);
  const together = codebase.tree();
  expect(together).not.toEqual(released);

  // What others need goes last.
  for (const name of afterNeeds(codebase, NAMES.toReversed()).toReversed()) {
    await change(codebase, 'remove', [name]);
  }
  expect(codebase.tree()).toEqual(released);
  const byLength = NAMES.toSorted((one, other) => one.length - other.length);
  for (const name of afterNeeds(codebase, byLength)) await change(codebase, 'apply', [name]);
  expect(codebase.tree()).toEqual(together);

  const backwards = afterNeeds(codebase, NAMES.toReversed());
  const [some, others] = [backwards.slice(0, 7), backwards.slice(7)];
  await change(codebase, 'remove', others);
  await change(codebase, 'remove', some);
  expect(codebase.tree()).toEqual(released);
  await change(codebase, 'apply', some);
  await change(codebase, 'apply', others);
  expect(codebase.tree()).toEqual(together);
  await change(codebase, 'remove', NAMES);
  expect(codebase.tree()).toEqual(released);
  expect(codebase.git('status', '--porcelain')).not.toMatch(/^( M| D|\?\? (?!\.claw))/m);
});

test('an edit of the owner between them stays, whichever are taken out', async () => {
  await using codebase = repository();
  const released = codebase.tree();
  const half = NAMES.filter((_, at) => at % 2 === 0);
  const rest = NAMES.filter((name) => !half.includes(name));
  const first = afterNeeds(codebase, half);
  await change(codebase, 'apply', first);
  const edited = codebase.read(EDITED).replace('default(600_000)', 'default(300_000)');
  codebase.write({ [EDITED]: edited });
  await change(
    codebase,
    'apply',
    afterNeeds(codebase, rest).filter((name) => !first.includes(name)),
  );
  await change(codebase, 'remove', NAMES);
  expect(codebase.read(EDITED)).toBe(edited);
  codebase.write({ [EDITED]: edited.replace('default(300_000)', 'default(600_000)') });
  expect(codebase.tree()).toEqual(released);
});

test(
  'all in one command pass their proof together, answer on every channel, also across a kill, and are out again in one',
  async () => {
    await using clone = cloneRepository();
    const released = clone.code();
    const applied = await clone.claw('apply', ...NAMES, '--proof', 'skills');
    expect(applied.json.error).toBeNull();
    expect(applied).toMatchObject({ code: 0, json: { outcome: 'done', conflicts: [] } });
    // A skill is tested after those that it needs.
    // Each is tested once: no run of several was too much and began anew.
    const runs = [...applied.stderr.matchAll(/^test: (.+)/gm)].map(([, names = '']) => names);
    expect(runs.join(', ').split(', ').sort()).toEqual(NAMES);
    await allChannelsAnswer(clone);
    expect(await clone.claw('remove', ...NAMES)).toMatchObject({ code: 0 });
    expect(clone.code()).toEqual(released);
  },
  20 * 60_000,
);
