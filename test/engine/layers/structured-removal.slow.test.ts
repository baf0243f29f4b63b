import { expect, test } from 'vitest';
import { addSkill, type Codebase, temporaryCodebase } from '../../../src/testing/claw/codebase.ts';

async function done(codebase: Codebase, ...args: string[]): Promise<void> {
  const { code, json } = await codebase.claw(...args);
  const { error, conflicts } = json;
  expect({ args, code, error, conflicts }).toEqual({ args, code: 0, error: null, conflicts: [] });
}

// Written as people write: Windows line ends, comments, an anchor, quotes, odd depths, no last newline.
const COMPOSE = `# What runs beside us
x-base: &base   # shared
   restart: "always"
services:
    web:                # the page
        <<: *base
        image: 'nginx:1'
        ports: [ "8080:80" ]

    # the store
    db: { image: postgres }
volumes:
    data:    # kept
# the end`.replaceAll('\n', '\r\n');

const ENV = '# Ours\r\nNAME=a\r\n\r\n#COMMENTED=1';
const IMAGE = '{ "apt": ["git"],\n\t"npm": { "tsx": "^4.0.0" }, "pip": [] }';

const SKILLS = {
  cache: {
    env_additions: [
      { name: 'TOKEN', description: 'Who pays', secret: true, example: 'abc' },
      'CACHE_URL',
      'COMMENTED',
    ],
    docker_compose_services: {
      redis: { image: 'redis:7', ports: ['127.0.0.1:6379:6379'], volumes: ['shared:/data'] },
    },
    container: { apt_packages: ['ffmpeg', 'git'], npm_dependencies: { tsx: '^4.1.0' } },
  },
  queue: {
    env_additions: [{ name: 'TOKEN', description: 'Who asks' }],
    docker_compose_services: {
      redis: { image: 'redis:7', ports: ['127.0.0.1:6379:6379'], volumes: ['shared:/data'] },
      worker: { image: 'worker:1', volumes: ['data:/work', 'shared:/shared'] },
    },
    container: { apt_packages: ['ffmpeg'], npm_dependencies: { tsx: '>=4.0.5 <5', zx: '^8.0.0' } },
  },
  notes: {
    env_additions: [{ name: 'NOTES_DIR', example: 'my notes' }],
    docker_compose_services: {
      notes: { image: 'notes:1', ports: [{ target: 1, published: 6380, host_ip: '127.0.0.1' }] },
    },
    container: { apt_packages: ['zip'] },
  },
};
type Name = keyof typeof SKILLS;

const FILES = {
  'claw.config.yaml': 'structured: { container/packages.json: container }\n',
  'docker-compose.yaml': COMPOSE,
  '.env.example': ENV,
  'container/packages.json': IMAGE,
};

test('whatever the order, a set of skills is one tree, and the last one out leaves every byte', async () => {
  await using codebase = temporaryCodebase(FILES, { git: true });
  for (const [skill, structured] of Object.entries(SKILLS)) {
    addSkill(codebase, skill, { manifest: { structured } });
  }
  const known = new Map<string, unknown>([['', codebase.tree()]]);
  const applied = new Set<Name>();
  const step = async (verb: 'apply' | 'remove', name: Name) => {
    await done(codebase, verb, name);
    applied[verb === 'apply' ? 'add' : 'delete'](name);
    const set = [...applied].sort().join();
    const tree = codebase.tree();
    expect({ set, tree }).toEqual({ set, tree: known.get(set) ?? tree });
    known.set(set, tree);
  };
  const orders: readonly (readonly [Name, Name, Name])[] = [
    ['cache', 'queue', 'notes'],
    ['queue', 'notes', 'cache'],
    ['notes', 'cache', 'queue'],
  ];
  for (const [at, order] of orders.entries()) {
    for (const name of order) await step('apply', name);
    for (const name of orders[(at + 1) % orders.length] ?? []) await step('remove', name);
  }
  expect([...known.keys()].length).toBeGreaterThan(6);
});

test('what stays of the files says all that two skills want, and nothing else changed', async () => {
  await using codebase = temporaryCodebase(FILES, { git: true });
  for (const [skill, structured] of Object.entries(SKILLS)) {
    addSkill(codebase, skill, { manifest: { structured } });
  }
  await done(codebase, 'apply', 'cache', 'queue');
  expect(codebase.read('.env.example')).toBe(
    `${ENV}\r\n\r\n# Who pays\r\n# Looks like abc\r\n# Who asks\r\nTOKEN=\r\nCACHE_URL=\r\n`,
  );
  expect(codebase.read('container/packages.json')).toBe(
    IMAGE.replace('"git"', '"ffmpeg", "git"').replace(
      '"tsx": "^4.0.0"',
      '"tsx": "^4.1.0", "zx": "^8.0.0"',
    ),
  );
  const compose = codebase.read('docker-compose.yaml');
  for (const line of COMPOSE.split('\r\n')) expect(compose).toContain(`${line}`);
  expect(compose.replaceAll('\r\n', '')).not.toContain('\n');
  expect(compose.match(/redis:$/gm)).toHaveLength(1);
  expect(compose.match(/shared:\r\n/g)).toHaveLength(1);
  await done(codebase, 'remove', 'cache');
  expect(codebase.read('.env.example')).toBe(`${ENV}\r\n\r\n# Who asks\r\nTOKEN=\r\n`);
  expect(codebase.read('container/packages.json')).toBe(
    IMAGE.replace('"git"', '"ffmpeg", "git"').replace(
      '"tsx": "^4.0.0"',
      '"tsx": ">=4.0.5 <5", "zx": "^8.0.0"',
    ),
  );
  expect(codebase.read('docker-compose.yaml')).toContain('redis:7');
});

test('package.json keeps its indentation, its order and its missing last newline', async () => {
  const pkg =
    '{\n\t"version": "1.0.0",\n\t"name": "app",\n\t"scripts": { },\n\t"dependencies": {\n\t\t"is-number": ">=6"\n\t}\n}';
  await using codebase = temporaryCodebase(
    { 'package.json': pkg, '.gitignore': 'node_modules\n' },
    { git: true },
  );
  const requirement = (range: string) => ({
    structured: { npm_dependencies: { 'is-number': range } },
  });
  addSkill(codebase, 'wide', { manifest: requirement('>=6.0.0 <8') });
  addSkill(codebase, 'narrow', { manifest: requirement('^7.0.0') });
  const before = codebase.tree();
  await done(codebase, 'apply', 'wide');
  expect(codebase.read('package.json')).toBe(pkg.replace('>=6', '>=6.0.0 <8'));
  await done(codebase, 'apply', 'narrow');
  expect(codebase.read('package.json')).toBe(pkg.replace('>=6', '^7.0.0'));
  await done(codebase, 'remove', 'wide');
  expect(codebase.read('package.json')).toBe(pkg.replace('>=6', '^7.0.0'));
  await done(codebase, 'remove', 'narrow');
  expect(codebase.tree()).toEqual(before);
});
