import { randomUUID } from 'node:crypto';
import { chmod, mkdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ExtraMounts, extraMounts, isSecretName } from './extra-mounts.ts';

let dir = '';
beforeEach(async () => {
  // The random letters of `mkdtemp` can spell `key`, and then nothing in there is shared.
  const place = `/tmp/claw-extra-${randomUUID()}`;
  await mkdir(place, { mode: 0o700 });
  dir = await realpath(place);
  await put('project/.env', 'ANTHROPIC_API_KEY=x');
  await put('project/data/claw.db', 'db');
  await put('recipes/soup.md', 'soup');
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(dir, path)), { recursive: true });
  await writeFile(join(dir, path), text);
}

async function resolved(yaml: string, folder = 'family'): Promise<ExtraMounts> {
  await put('config/mounts.yaml', yaml.replaceAll('DIR', dir));
  return await read(folder);
}

function read(folder = 'family', file = join(dir, 'config/mounts.yaml')): Promise<ExtraMounts> {
  const projectDir = join(dir, 'project');
  const homeDir = join(dir, 'home/mickey');
  return extraMounts({
    mountsFile: file,
    homeDir,
    projectDir,
    dataDir: join(projectDir, 'data'),
    folder,
  });
}

/** Why the one mount of a list was refused. */
async function refusal(path: string, more = ''): Promise<string> {
  const { mounts, refusals } = await resolved(
    `mounts: [{ path: "${path}", groups: [family] }${more}]`,
  );
  expect(mounts).toEqual([]);
  return refusals.join(' ').replaceAll(dir, 'DIR');
}

test('a group sees what the list gives it, read-only unless it says otherwise', async () => {
  await put('notes.txt', 'notes');
  const list = `
mounts:
  - path: DIR/recipes
    groups: [family, main]
  - path: DIR/notes.txt
    as: todo.txt
    groups: [family]
    write: true
`;
  expect(await resolved(list)).toEqual({
    mounts: [
      { source: `${dir}/recipes`, target: '/workspace/extra/recipes', isWritable: false },
      { source: `${dir}/notes.txt`, target: '/workspace/extra/todo.txt', isWritable: true },
    ],
    refusals: [],
  });
  expect((await resolved(list, 'main')).mounts).toHaveLength(1);
  expect(await resolved(list, 'club')).toEqual({ mounts: [], refusals: [] });
});

test('without a list nothing is shared, and that is no fault', async () => {
  expect(await read()).toEqual({ mounts: [], refusals: [] });
});

test.each([
  ['keys that are unknown', 'mounts: [{ path: /a, groups: [x], mode: rw }]', 'mounts.0'],
  ['relative paths', 'mounts: [{ path: a, groups: [x] }]', 'must begin with / or ~/'],
  ['names that lead away', 'mounts: [{ path: /a, as: "../b", groups: [x] }]', 'a plain name'],
  ['no groups', 'mounts: [{ path: /a, groups: [] }]', 'mounts.0.groups'],
  ['aliases', 'mounts: [&a { path: /a, groups: [x] }, *a]', 'alias'],
  ['what is no YAML', 'mounts: [', 'is not valid YAML'],
])('a list with %s shares nothing and says why', async (_name, yaml, reason) => {
  const { mounts, refusals } = await resolved(yaml);
  expect(mounts).toEqual([]);
  expect(refusals[0]).toContain('Nothing more is shared with family');
  expect(refusals[0]?.toLowerCase()).toContain(reason.toLowerCase());
});

test('a list that others can change, or that lies in the project, shares nothing', async () => {
  await resolved('mounts: [{ path: DIR/recipes, groups: [family] }]');
  await chmod(join(dir, 'config/mounts.yaml'), 0o666);
  expect((await read()).refusals[0]).toContain('can be changed by others');
  await put('project/mounts.yaml', 'mounts: []');
  const inside = await read('family', join(dir, 'project/mounts.yaml'));
  expect(inside.refusals[0]).toContain('must lie outside the project');
  await symlink(join(dir, 'project'), join(dir, 'elsewhere'));
  const linked = await read('family', join(dir, 'elsewhere/mounts.yaml'));
  expect(linked.refusals[0]).toContain('must lie outside the project');
});

test('names of secrets are refused, wherever in the path, and behind links', async () => {
  await put('.ssh/config', 'x');
  await put('.aws/nested/file', 'x');
  await put('server.pem', 'x');
  await symlink(join(dir, '.ssh'), join(dir, 'harmless'));
  await symlink(join(dir, 'recipes'), join(dir, 'my-keys'));
  expect(await refusal('DIR/.ssh')).toContain('“.ssh” is a name of secrets');
  expect(await refusal('DIR/.aws/nested')).toContain('“.aws” is a name of secrets');
  expect(await refusal('DIR/server.pem')).toContain('“server.pem” is a name of secrets');
  expect(await refusal('DIR/harmless')).toContain('“.ssh” is a name of secrets');
  expect(await refusal('DIR/my-keys')).toContain('“my-keys” is a name of secrets');
});

test('the assistant itself is not shared, nor what holds it, nor the system', async () => {
  await symlink(join(dir, 'project/data'), join(dir, 'innocent'));
  for (const path of ['DIR/project', 'DIR/project/data', 'DIR', 'DIR/innocent', 'DIR/config']) {
    expect(await refusal(path)).toContain("which is the assistant's own");
  }
  for (const path of ['/etc', '/proc/self', '/dev']) {
    expect(await refusal(path)).toContain('belongs to the system');
  }
  await put('home/mickey/notes.txt', 'notes');
  for (const path of ['/', 'DIR/home', 'DIR/home/mickey', '~/']) {
    expect(await refusal(path)).toContain('it holds too much');
  }
  expect(await refusal('/dev/null')).toContain('neither a file nor a folder');
  expect(await refusal('DIR/nothing')).toContain('it does not exist');
});

test('~ is the home folder, whose own name may look like a secret', async () => {
  await put('home/mickey/soup.md', 'soup');
  const { mounts } = await resolved('mounts: [{ path: ~/soup.md, groups: [family] }]');
  expect(mounts.map(({ source }) => source)).toEqual([join(dir, 'home/mickey/soup.md')]);
  await put('home/mickey/key/soup.md', 'soup');
  expect(await refusal('~/key/soup.md')).toContain('“key” is a name of secrets');
});

test('a folder is not shared if agents could put a link in its path', async () => {
  await put('shared/inner/a.md', 'a');
  const more = `, { path: "DIR/shared", groups: [other], write: true }`;
  expect(await refusal('DIR/shared/inner', more)).toContain('where agents can write');
});

test('secrets inside a shared folder are covered, without following links', async () => {
  await put('recipes/.env', 'SECRET=1');
  await put('recipes/deep/.ssh/id_rsa', 'x');
  await put('recipes/deep/Private.PEM', 'x');
  await symlink(join(dir, 'project'), join(dir, 'recipes/project'));
  const { mounts, refusals } = await resolved('mounts: [{ path: DIR/recipes, groups: [family] }]');
  expect(refusals).toEqual([]);
  const covered = mounts.slice(1).map(({ source, target, isWritable }) => {
    expect(isWritable).toBe(false);
    return `${target} ${source.endsWith('empty-folder') ? 'folder' : 'file'}`;
  });
  expect(covered.toSorted()).toEqual([
    '/workspace/extra/recipes/.env file',
    '/workspace/extra/recipes/deep/.ssh folder',
    '/workspace/extra/recipes/deep/Private.PEM file',
  ]);
});

test('a folder whose name is no UTF-8 cannot be looked through for secrets, so that it is not shared', async () => {
  await mkdir(Buffer.concat([Buffer.from(join(dir, 'recipes/caf')), Buffer.from([0xe9])]));
  expect(await refusal('DIR/recipes')).toContain(
    'holds caf\ufffd, whose name is no UTF-8; rename it',
  );
});

test('a file that looks like a key counts as one, in upper or lower case', () => {
  const secrets = [
    '.ssh',
    '.AWS',
    '.gnupg',
    '.env',
    '.env.local',
    'a.pem',
    'apiKey.txt',
    'id_rsa.pub',
  ];
  expect(secrets.map(isSecretName)).toEqual(secrets.map(() => true));
  const harmless = ['notes.md', 'src', 'environment.ts', 'ssh', '.config'];
  expect(harmless.map(isSecretName)).toEqual(harmless.map(() => false));
});
