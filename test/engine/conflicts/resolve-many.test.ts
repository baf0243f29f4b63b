import { expect, test } from 'vitest';
import { addSkill, type Codebase, temporaryCodebase } from '../../../src/testing/claw/codebase.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n';
const FILES = ['a.txt', 'b.txt', 'c.txt'];

const port = (service: string) => ({
  structured: {
    docker_compose_services: {
      [service]: { image: `${service}:1`, ports: ['127.0.0.1:6379:6379'] },
    },
  },
});

function with2(word: string) {
  return LINES.replace('two', word);
}

/** Two skills that want other words at one line of three files, and the same port. */
async function blocked(): Promise<Codebase> {
  const codebase = temporaryCodebase(Object.fromEntries(FILES.map((path) => [path, LINES])), {
    git: true,
  });
  for (const name of ['first', 'second']) {
    const modify = Object.fromEntries(FILES.map((path) => [path, [LINES, with2(name)] as const]));
    addSkill(codebase, name, { modify, manifest: port(name) });
  }
  expect(await codebase.claw('apply', 'first', 'second')).toMatchObject({ code: 3 });
  return codebase;
}

test.each([
  ['--ours', 'first\n'],
  ['--theirs', 'second\n'],
])(
  'resolve --all %s resolves all that is open, and leaves what was decided',
  async (side, word) => {
    await using codebase = await blocked();
    await codebase.claw('resolve', 'docker-compose.yml#services.second.ports', '--with', '[]');
    await codebase.claw('resolve', 'b.txt', '--both', 'ours');
    const run = await codebase.claw('resolve', '--all', side);
    expect(run).toMatchObject({ code: 0, json: { data: { paths: ['a.txt', 'c.txt'], open: [] } } });
    expect(await codebase.claw('continue')).toMatchObject({ code: 0 });
    expect(codebase.read('a.txt')).toBe(with2(word.trim()));
    expect(codebase.read('b.txt')).toBe(with2('first\nsecond'));
    expect(codebase.read('c.txt')).toBe(with2(word.trim()));
  },
);

test('resolve --all resolves what it can, and says which one it does not fit', async () => {
  await using codebase = await blocked();
  const run = await codebase.claw('resolve', '--all', '--both', 'ours');
  expect(run.json).toMatchObject({ error: null, data: { paths: FILES, open: { length: 1 } } });
  expect(run.json.warnings.join()).toContain('docker-compose.yml#');
  // Where it fits none, nothing is said to be done.
  const again = await codebase.claw('resolve', '--all', '--both', 'ours');
  expect(again).toMatchObject({ code: 2, json: { error: { code: 'USAGE' } } });
  const { data } = (await codebase.claw('conflicts')).json;
  expect(data).toMatchObject({ open: { length: 1 } });
});

test('a file of answers resolves each conflict in its own way, by a template to fill in', async () => {
  await using codebase = await blocked();
  const { data } = (await codebase.claw('conflicts', '--answers')).json;
  const template = (data as { answers: string }).answers;
  expect(template).toContain('# ours is first, theirs is second: ');
  // As it is printed it answers nothing.
  codebase.write({ 'tmp/answers.yaml': template });
  const empty = await codebase.claw('resolve', '--answers', 'tmp/answers.yaml');
  expect(empty).toMatchObject({ code: 0, json: { outcome: 'nothing', data: { paths: [] } } });
  codebase.write({
    'tmp/b.txt': with2('from a file'),
    'tmp/answers.yaml': template
      .replace('\na.txt:', '\na.txt: theirs-ours')
      .replace('\nb.txt:', '\nb.txt: {file: tmp/b.txt}')
      .replace('\nc.txt:', '\nc.txt: {hunks: [{text: "by hand\\n"}]}')
      .replace('.second.ports:', '.second.ports: {value: ["127.0.0.1:6380:6379"]}')
      .replace('.second.ports":', '.second.ports": {value: ["127.0.0.1:6380:6379"]}'),
  });
  const run = await codebase.claw('resolve', '--answers', 'tmp/answers.yaml');
  expect(run).toMatchObject({ code: 0, json: { data: { open: [] } } });
  expect(await codebase.claw('continue')).toMatchObject({ code: 0 });
  expect(codebase.read('a.txt')).toBe(with2('second\nfirst'));
  expect(codebase.read('b.txt')).toBe(with2('from a file'));
  expect(codebase.read('c.txt')).toBe(with2('by hand'));
  expect(codebase.read('docker-compose.yml')).toContain('127.0.0.1:6380:6379');
});

test('answers may be JSON and finished texts; one that does not fit decides nothing', async () => {
  await using codebase = await blocked();
  const answer = async (answers: unknown) => {
    codebase.write({ 'answers.json': JSON.stringify(answers) });
    return await codebase.claw('resolve', '--answers', 'answers.json');
  };
  const refusals = [
    [{ 'a.txt': 'ours', 'z.txt': 'ours' }, 'USAGE', 'z.txt'],
    [{ 'a.txt': 'ours', 'b.txt': 'both' }, 'SCHEMA_INVALID', 'b.txt'],
    [{ 'a.txt': 'ours', 'b.txt': { hunks: ['ours', 'ours'] } }, 'USAGE', 'b.txt'],
    [
      { 'a.txt': 'ours', 'b.txt': { text: codebase.read('.claw/pending/b.txt') } },
      'MARKERS_PRESENT',
      'b.txt',
    ],
    [{ 'a.txt': 'ours', 'b.txt': { value: 3 } }, 'USAGE', 'b.txt'],
  ] as const;
  for (const [answers, code, path] of refusals) {
    expect((await answer(answers)).json).toMatchObject({ ok: false, error: { code, path } });
  }
  expect((await codebase.claw('conflicts')).json.data).toMatchObject({ open: { length: 4 } });
  const run = await answer({ 'a.txt': { text: with2('whole') }, 'b.txt': null });
  expect(run).toMatchObject({ code: 0, json: { data: { paths: ['a.txt'], open: { length: 3 } } } });
});

test('--all and --answers go without a path, and say how', async () => {
  await using codebase = await blocked();
  for (const args of [['a.txt', '--all', '--ours'], ['--all'], ['a.txt', '--answers', 'x.yaml']]) {
    expect(await codebase.claw('resolve', ...args)).toMatchObject({ code: 2 });
  }
});
