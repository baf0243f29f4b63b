import { expect, test } from 'vitest';
import {
  addSkill,
  type Codebase,
  commitAll,
  type Files,
  skillFiles,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';
import { addRelease, packagedSkills, versioned } from '../releases.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n';
const line = (from: string, to: string, text = LINES) => text.replace(`${from}\n`, `${to}\n`);

type Skills = Readonly<Record<string, Parameters<typeof skillFiles>[1]>>;

function core(files: Files = {}, skills: Skills = {}): Codebase {
  return temporaryCodebase(
    { 'package.json': versioned('1.0.0'), 'src/a.ts': LINES, ...packagedSkills(skills), ...files },
    { git: true },
  );
}

const names = async (codebase: Codebase) =>
  ((await codebase.claw('list')).json.data as { name: string }[]).map(({ name }) => name);

/** Keeps the first line as it was before the release that changed it. */
const keeper = (version: string, text: string): Skills[string] => ({
  core: version,
  modify: { 'src/a.ts': [text, line('ONE11', 'one', text)] },
});

test.concurrent('a breaking change brings the skill that keeps the old behaviour; it stays until removed', async () => {
  await using codebase = core();
  const changed = line('one', 'ONE11');
  const migrations =
    '# append only\n- since: 1.1.0\n  skill: keep-one@^1.0.0\n  description: the first line is louder now\n';
  addRelease(codebase, 'v1.1.0', {
    files: {
      'package.json': versioned('1.1.0'),
      'src/a.ts': changed,
      'migrations.yaml': migrations,
    },
    skills: { 'keep-one': keeper('1.1.0', changed) },
  });
  addRelease(codebase, 'v1.2.0', {
    from: 'v1.1.0',
    files: { 'package.json': versioned('1.2.0'), 'src/b.ts': 'b\n' },
  });
  await codebase.claw('init');
  codebase.write({ 'src/a.ts': line('five', 'mine') });
  const run = await codebase.claw('update', 'v1.1.0');
  expect(run.json).toMatchObject({ error: null, outcome: 'done' });
  expect(run.json.warnings.join()).toContain('claw remove keep-one');
  expect(run.json.data).toMatchObject({
    migrations: [
      { since: '1.1.0', skill: 'keep-one', description: 'the first line is louder now' },
    ],
    broughtSkills: ['keep-one'],
  });
  expect(codebase.read('src/a.ts')).toBe(line('five', 'mine'));
  expect(await names(codebase)).toEqual(['keep-one']);
  expect((await codebase.claw('update', 'v1.2.0')).json.error).toBe(null);
  expect(await names(codebase)).toEqual(['keep-one']);
  expect((await codebase.claw('remove', 'keep-one')).json.error).toBe(null);
  expect(codebase.read('src/a.ts')).toBe(line('five', 'mine', changed));
  // What the owner has taken out stays out.
  expect((await codebase.claw('update', 'v1.2.0')).json.outcome).toBe('nothing');
  expect(await names(codebase)).toEqual([]);
});

test.concurrent('a core without a version has done what it listed, and nothing twice', async () => {
  const entry = (since: string) =>
    `- {since: ${since}, skill: skill-${since[2]}, path_map: {old: new}}\n`;
  const skill = { core: '0.0.1', add: { 'src/s.ts': 's\n' } };
  const release = (last: number): Files => ({
    'migrations.yaml': ['1.1.0', '1.2.0', '1.3.0'].slice(0, last).map(entry).join(''),
    ...packagedSkills({ 'skill-1': skill, 'skill-2': skill, 'skill-3': skill }),
    [`f${last}.txt`]: 'f\n',
  });
  await using codebase = temporaryCodebase(release(1));
  await using second = temporaryCodebase(release(2));
  await using third = temporaryCodebase(release(3));
  await codebase.claw('init');
  expect((await codebase.claw('update', second.root)).json.error).toBe(null);
  expect(await names(codebase)).toEqual(['skill-2']);
  expect((await codebase.claw('remove', 'skill-2')).json.error).toBe(null);
  expect((await codebase.claw('update', third.root)).json.error).toBe(null);
  expect(await names(codebase)).toEqual(['skill-3']);
});

test.concurrent('a large jump goes through all migrations in the order of their versions', async () => {
  await using codebase = core({}, { legacy: { add: { 'src/legacy.ts': 'legacy\n' } } });
  const add = (name: string, version: string) => ({
    [name]: { core: version, add: { [`src/${name}.ts`]: `${name}\n` } },
  });
  const migrations = [
    { since: '1.10.0', retire: 'second', description: 'the core does what second did' },
    { since: '1.2.0', skill: 'second', description: 'second' },
    { since: '1.1.0', skill: 'first', path_map: { 'src/a.ts': 'src/b.ts' } },
    { since: '1.3.0', skill: 'third', retire: 'legacy', description: 'third' },
    { since: '2.0.0', skill: 'future', description: 'not reached' },
  ];
  addRelease(codebase, 'v1.10.0', {
    files: {
      'package.json': versioned('1.10.0'),
      'src/b.ts': LINES,
      'src/legacy.ts': 'the core has it\n',
      'migrations.yaml': JSON.stringify(migrations),
    },
    gone: ['src/a.ts'],
    skills: { ...add('first', '1.1.0'), ...add('second', '1.2.0'), ...add('third', '1.3.0') },
  });
  await codebase.claw('apply', 'legacy');
  codebase.write({ 'src/a.ts': line('five', 'mine') });
  const plan = await codebase.claw('plan', 'update', 'v1.10.0');
  const since = (plan.json.data as { migrations: { since: string }[] }).migrations;
  expect(since.map((one) => one.since)).toEqual(['1.1.0', '1.2.0', '1.3.0', '1.10.0']);
  const run = await codebase.claw('update', 'v1.10.0');
  expect(run.json).toMatchObject({ error: null, data: { retired: ['legacy'] } });
  expect(await names(codebase)).toEqual(['first', 'third']);
  expect(codebase.read('src/b.ts')).toBe(line('five', 'mine'));
  expect(codebase.read('src/legacy.ts')).toBe('the core has it\n');
  expect(codebase.has('src/second.ts')).toBe(false);
});

test.concurrent('a skill that the core took over goes, and the owner’s edit of its file stays', async () => {
  await using codebase = core({}, { voice: { add: { 'src/voice.ts': LINES } } });
  addRelease(codebase, 'v1.1.0', {
    files: {
      'package.json': versioned('1.1.0'),
      'src/voice.ts': line('nine', 'NINE of the core'),
      'migrations.yaml':
        '- {since: 1.1.0, retire: voice, description: voice is part of the core}\n',
    },
    gone: ['skills/voice'],
  });
  await codebase.claw('apply', 'voice');
  codebase.write({ 'src/voice.ts': line('one', 'mine') });
  const before = [codebase.tree(), codebase.state()];
  const run = await codebase.claw('update', 'v1.1.0');
  expect(run.json).toMatchObject({ error: null, data: { retired: ['voice'] } });
  expect(codebase.read('src/voice.ts')).toBe(line('one', 'mine', line('nine', 'NINE of the core')));
  expect(await names(codebase)).toEqual([]);
  expect(codebase.has('skills')).toBe(false);
  expect((await codebase.claw('undo')).json.error).toBe(null);
  expect([codebase.tree(), codebase.state()]).toEqual(before);
});

test.concurrent('a migration’s skill that the owner has already stays the owner’s', async () => {
  const changed = line('one', 'ONE11');
  await using codebase = core({}, { keep: { add: { 'src/keep.ts': 'theirs\n' } } });
  addRelease(codebase, 'v1.1.0', {
    files: {
      'package.json': versioned('1.1.0'),
      'src/a.ts': changed,
      'migrations.yaml': '- {since: 1.1.0, skill: keep}\n',
    },
    skills: { keep: { version: '2.0.0', ...keeper('1.1.0', changed) } },
  });
  await codebase.claw('apply', 'keep');
  expect((await codebase.claw('update', 'v1.1.0')).json.error).toBe(null);
  expect((await codebase.claw('list')).json.data).toMatchObject([
    { name: 'keep', version: '1.0.0' },
  ]);
  expect(codebase.read('src/a.ts')).toBe(changed);
});

test.concurrent('a release that is at fault is refused, named, and nothing is touched', async () => {
  await using codebase = core(
    {},
    {
      base: { add: { 'src/base.ts': 'b\n' } },
      upper: { add: { 'src/upper.ts': 'u\n' }, manifest: { depends: ['base'] } },
    },
  );
  const guarded = { 'claw.config.yaml': "protected: ['src/a.ts']\n" };
  const faults: Record<string, [code: string, said: RegExp, files: Files, skills: Skills]> = {
    '- {since: 1.1.0, skill: absent}': ['SKILL_NOT_FOUND', /skill absent.*skills\/absent/, {}, {}],
    '- {since: 1.1.0, skill: misnamed}': [
      'NAME_INVALID',
      /misnamed/,
      Object.fromEntries(
        Object.entries(skillFiles('other', { add: { 'x.ts': 'x\n' } })).map(([path, text]) => [
          `skills/misnamed/${path}`,
          text,
        ]),
      ),
      {},
    ],
    '- {since: 1.1.0, skill: dated@^2.0.0}': [
      'VERSION_INVALID',
      /dated 1\.0\.0.*dated@\^2\.0\.0/,
      {},
      { dated: { add: { 'd.ts': 'd\n' } } },
    ],
    '- {since: 1.1.0, skill: lonely}': [
      'SKILL_NEEDED',
      /lonely needs/,
      {},
      { lonely: { add: { 'l.ts': 'l\n' }, manifest: { depends: ['nobody'] } } },
    ],
    '- {since: 1.1.0, retire: base}': ['SKILL_NEEDED', /upper needs base.*retires/, {}, {}],
    '- {since: 1.1.0, skill: wild}': [
      'PATH_PROTECTED',
      /src\/a\.ts/,
      guarded,
      { wild: { modify: { 'src/a.ts': [LINES, line('one', 'x')] } } },
    ],
  };
  await codebase.claw('apply', 'base', 'upper');
  const before = [codebase.tree(), codebase.state()];
  for (const [at, [text, [code, said, files, skills]]] of Object.entries(faults).entries()) {
    const version = `1.1.${at}`;
    const release = { 'package.json': versioned(version), 'migrations.yaml': `${text}\n` };
    addRelease(codebase, `v${version}`, { files: { ...release, ...files }, skills });
    const run = await codebase.claw('update', `v${version}`);
    expect(run).toMatchObject({ code: 1, json: { error: { code } } });
    expect(run.json.error?.message).toMatch(said);
    expect([codebase.tree(), codebase.state()]).toEqual(before);
  }
});

test.concurrent('the list of migrations is only ever added to, and one that lost entries is told of', async () => {
  await using codebase = core();
  const entry = (since: string) => `- {since: ${since}, path_map: {x${since}: y${since}}}\n`;
  addRelease(codebase, 'v1.1.0', {
    files: { 'package.json': versioned('1.1.0'), 'migrations.yaml': entry('1.1.0') },
  });
  addRelease(codebase, 'v1.2.0', {
    files: { 'package.json': versioned('1.2.0'), 'migrations.yaml': entry('1.2.0') },
  });
  await codebase.claw('init');
  expect((await codebase.claw('update', 'v1.1.0')).json.warnings).toEqual([]);
  const run = await codebase.claw('update', 'v1.2.0');
  expect(run.json.warnings.join()).toMatch(/migrations\.yaml.*1\.1\.0/);
});

const text = (content: string): Skills[string] => ({ add: { 'src/s.ts': content } });

test.concurrent('a release’s packages come and go with it; those of the owner stay', async () => {
  await using codebase = core(
    {},
    {
      changed: text('changed 1\n'),
      edited: text('edited 1\n'),
      deleted: text('deleted 1\n'),
      dropped: text('dropped 1\n'),
      'dropped-edited': text('dropped 1\n'),
      same: text('same\n'),
    },
  );
  addRelease(codebase, 'v1.1.0', {
    files: { 'package.json': versioned('1.1.0') },
    gone: ['skills/dropped', 'skills/dropped-edited'],
    skills: {
      changed: { ...text('changed 2\n'), version: '1.1.0' },
      edited: { ...text('edited 2\n'), version: '1.1.0' },
      deleted: { ...text('deleted 2\n'), version: '1.1.0' },
      added: text('added\n'),
      taken: text('of the release\n'),
    },
  });
  await codebase.claw('apply', 'changed');
  codebase.write({ 'skills/edited/add/src/s.ts': 'mine\n' });
  codebase.write({ 'skills/dropped-edited/add/src/s.ts': 'mine\n' });
  codebase.remove('skills/deleted');
  addSkill(codebase, 'taken', text('mine\n'));
  addSkill(codebase, 'mine', text('mine\n'));
  commitAll(codebase, 'my packages');
  const before = [codebase.tree(), codebase.state()];
  const run = await codebase.claw('update', 'v1.1.0');
  expect(run.json).toMatchObject({
    error: null,
    data: {
      broughtSkills: ['added', 'changed', 'dropped'],
      keptSkills: ['deleted', 'dropped-edited', 'edited', 'taken'],
    },
  });
  const file = (name: string) => codebase.read(`skills/${name}/add/src/s.ts`);
  expect(
    ['changed', 'edited', 'dropped-edited', 'added', 'taken', 'mine', 'same'].map(file),
  ).toEqual(['changed 2\n', 'mine\n', 'mine\n', 'added\n', 'mine\n', 'mine\n', 'same\n']);
  expect(codebase.has('skills/deleted') || codebase.has('skills/dropped')).toBe(false);
  // What is applied stays as it was applied until it is upgraded.
  expect(codebase.read('src/s.ts')).toBe('changed 1\n');
  expect((await codebase.claw('update', 'v1.1.0')).json.outcome).toBe('nothing');
  expect((await codebase.claw('undo')).json.error).toBe(null);
  expect([codebase.tree(), codebase.state()]).toEqual(before);
});

const PAIR: Skills = {
  alpha: { modify: { 'src/a.ts': [LINES, line('one', 'A')] } },
  beta: { modify: { 'src/a.ts': [LINES, line('one', 'B')] } },
};

/** Recordings made somewhere else: of two skills that disagree, and of one with the next release. */
async function recordings(release: Files): Promise<Files> {
  await using elsewhere = core({}, PAIR);
  addRelease(elsewhere, 'v1.1.0', { files: release });
  const resolve = async (resolved: string, ...blocked: string[]) => {
    expect((await elsewhere.claw(...blocked)).code).toBe(3);
    elsewhere.write({ '.claw/pending/src/a.ts': resolved });
    expect((await elsewhere.claw('continue')).json.error).toBe(null);
  };
  await resolve(line('one', 'AandB'), 'apply', 'alpha', 'beta');
  await elsewhere.claw('remove', 'beta');
  await resolve(line('one', 'Aon11'), 'update', 'v1.1.0');
  const kept = Object.entries(elsewhere.state()).filter(([path]) => /^resolutions\/./.test(path));
  expect(kept.length).toBe(2);
  return Object.fromEntries(kept.map(([path, content]) => [`.claw/${path}`, content]));
}

test.concurrent('a release’s recordings resolve exactly the conflicts they were made for, from then on', async () => {
  const release = { 'package.json': versioned('1.1.0'), 'src/a.ts': line('one', 'ONE11') };
  const recorded = await recordings(release);
  await using codebase = core({}, PAIR);
  const broken = '.claw/resolutions/0123456789abcdef.yaml';
  addRelease(codebase, 'v1.1.0', { files: { ...release, ...recorded, [broken]: 'nonsense\n' } });
  await codebase.claw('apply', 'alpha');
  const run = await codebase.claw('update', 'v1.1.0');
  expect(run.json).toMatchObject({ error: null, outcome: 'done', conflicts: [] });
  expect(run.json.warnings.join('\n')).toMatch(/src\/a\.ts: resolved by the recording/);
  expect(run.json.warnings.join('\n')).toMatch(/left out.*0123456789abcdef/);
  expect(codebase.read('src/a.ts')).toBe(line('one', 'Aon11'));
  expect(codebase.has(broken)).toBe(false);
  for (const path of Object.keys(recorded)) expect(codebase.read(path)).toBe(recorded[path]);
  expect((await codebase.claw('replay')).json).toMatchObject({ error: null, outcome: 'nothing' });
  // The other one was made for other bytes of the file: it may be offered, never applied.
  const blocked = await codebase.claw('apply', 'beta');
  expect(blocked.code).toBe(3);
});

test.concurrent('a recording applies nowhere else: a release whose file differs is a conflict', async () => {
  const release = { 'package.json': versioned('1.1.0'), 'src/a.ts': line('one', 'ONE11') };
  const recorded = await recordings(release);
  await using codebase = core({}, PAIR);
  const other = { ...release, 'src/a.ts': line('nine', 'other', release['src/a.ts']) };
  addRelease(codebase, 'v1.1.0', { files: { ...other, ...recorded } });
  await codebase.claw('apply', 'alpha');
  const run = await codebase.claw('update', 'v1.1.0');
  expect(run.code).toBe(3);
  expect(run.json.conflicts).toMatchObject([{ path: 'src/a.ts', kind: 'content' }]);
});
