import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Declaration } from './declaration.ts';
import { declaration } from './declaration-fixture.ts';
import { composeStructured } from './declared-file.ts';
import { disputedKind, structuredKind, structuredPaths } from './structured-kind.ts';

function compose(path: string, release: string | null, declarations: readonly Declaration[]) {
  const bytes = release === null ? null : Buffer.from(release);
  const result = composeStructured({
    path,
    kind: disputedKind(path),
    release: bytes,
    declarations,
  });
  const conflicts = result.conflicts.map(({ path: at, kind, layers }) => ({ at, kind, layers }));
  return { text: result.bytes?.toString() ?? null, conflicts, outcome: result.outcome };
}

test('the kind of a file goes by its whole path', () => {
  expect(structuredKind('package.json', {})).toBe('npm');
  expect(structuredKind('packages/a/package.json', {})).toBeNull();
  expect(structuredKind('compose.yaml', {})).toBe('compose');
  expect(structuredKind('package-lock.json', {})).toBe('lock');
  const own = { 'image/list.json': 'container' } as const;
  expect(structuredKind('image/list.json', own)).toBe('container');
  expect(structuredKind('image/list.json', {})).toBeNull();
  expect(structuredPaths(own)).toContain('image/list.json');
  expect(structuredPaths({})).not.toContain('container/packages.json');
});

test.each([
  ['A=1\n', 'A=1\n\n# The bot’s token\nTOKEN=abc\nURL=\n\nOTHER=1\n'],
  ['A=1', 'A=1\n\n# The bot’s token\nTOKEN=abc\nURL=\n\nOTHER=1\n'],
  ['A=1\n\n', 'A=1\n\n# The bot’s token\nTOKEN=abc\nURL=\n\nOTHER=1\n'],
  ['A=1\r\n', 'A=1\r\n\r\n# The bot’s token\r\nTOKEN=abc\r\nURL=\r\n\r\nOTHER=1\r\n'],
  ['#TOKEN=\nexport URL=x\n', '#TOKEN=\nexport URL=x\n\nOTHER=1\n'],
  [null, '# The bot’s token\nTOKEN=abc\nURL=\n\nOTHER=1\n'],
])('settings are appended to %j by layer, each once', (release, expected) => {
  const declarations = [
    declaration('b', { env: [{ name: 'OTHER', example: '1' }, 'TOKEN'] }),
    declaration('a', {
      env: [{ name: 'TOKEN', description: 'The bot’s token', example: 'abc' }, 'URL', 'URL'],
    }),
  ];
  const { text, outcome } = compose('.env.example', release, declarations);
  expect(text).toBe(expected);
  expect(outcome).toEqual({ env_additions: ['OTHER', 'TOKEN', 'URL'] });
});

test('a release that is no UTF-8 is appended to, byte for byte', () => {
  const release = Buffer.from([0x41, 0x3d, 0xff, 0x0a]);
  const declarations = [declaration('a', { env: [{ name: 'B', example: 'two words' }] })];
  const { bytes } = composeStructured({ path: '.env.example', kind: 'env', release, declarations });
  expect(bytes).toEqual(Buffer.concat([release, Buffer.from('\nB="two words"\n')]));
});

const redis = {
  image: 'redis:7',
  ports: ['127.0.0.1:6379:6379'],
  volumes: ['cache:/data', './data:/host'],
};

test('a secret’s example is told, and never becomes its value', () => {
  const env = [{ name: 'TOKEN', example: '123:abc', secret: true }];
  const declarations = [declaration('a', { env })];
  const input = { path: '.env.example', kind: 'env', release: null, declarations } as const;
  const text = composeStructured(input).bytes?.toString();
  expect(text).toContain('# Looks like 123:abc\nTOKEN=\n');
});

test('a compose file is made where there is none', () => {
  const { text, outcome } = compose('docker-compose.yml', null, [
    declaration('a', { services: { redis } }),
  ]);
  expect(text).toBe(`services:
  redis:
    image: redis:7
    ports:
      - 127.0.0.1:6379:6379
    volumes:
      - cache:/data
      - ./data:/host
volumes:
  cache:
`);
  expect(outcome).toEqual({ services: { redis: ['6379/tcp'] } });
});

const FILE = `# What runs beside us
services:
    web:            # the page
        image: "nginx:1"
        ports: [ "8080:80" ]

    # the last one
    db:
        image: postgres

# kept for later
networks: {}
`;

test('services go behind the present ones at their depth, and every other byte stays', () => {
  const { text } = compose('compose.yml', FILE, [declaration('a', { services: { redis } })]);
  expect(text).toBe(
    FILE.replace(
      '        image: postgres\n',
      `        image: postgres
    redis:
      image: redis:7
      ports:
        - 127.0.0.1:6379:6379
      volumes:
        - cache:/data
        - ./data:/host
volumes:
  cache:
`,
    ),
  );
});

test.each([
  ['# nothing yet\n', '# nothing yet\nservices:\n  a:\n    image: x\n'],
  ['services:\n', 'services:\n  a:\n    image: x\n'],
  ['services: {}\nname: x\n', 'services:\n  a:\n    image: x\nname: x\n'],
  ['name: x', 'name: x\nservices:\n  a:\n    image: x\n'],
  ['---\r\nname: x\r\n', '---\r\nname: x\r\nservices:\r\n  a:\r\n    image: x\r\n'],
  ['services:\n  b: {image: y}\n', 'services:\n  b: {image: y}\n  a:\n    image: x\n'],
])('a service is added to %j', (release, expected) => {
  const declarations = [declaration('s', { services: { a: { image: 'x' } } })];
  const { text, conflicts } = compose('docker-compose.yml', release, declarations);
  const sorted = (value: string | null) => value?.split(/\r?\n/).sort();
  expect(conflicts).toEqual([]);
  expect(parse(text ?? '')).toEqual(parse(expected));
  expect(sorted(text)).toEqual(sorted(expected));
});

test('a service declared twice is kept once; another definition of it is a conflict', () => {
  const one = declaration('one', { services: { redis } });
  const same = declaration('two', { services: { redis: { ...redis } } });
  const other = declaration('two', { services: { redis: { ...redis, image: 'valkey' } } });
  expect(compose('docker-compose.yml', null, [one, same]).conflicts).toEqual([]);
  expect(compose('docker-compose.yml', null, [one, other]).conflicts).toEqual([
    {
      at: 'docker-compose.yml#services.redis.image',
      kind: 'structured',
      layers: ['one', 'two'],
    },
  ]);
  const web = declaration('one', { services: { web: { image: 'apache' } } });
  expect(compose('compose.yml', FILE, [web])).toMatchObject({
    text: FILE,
    conflicts: [
      { at: 'compose.yml#services.web.image', layers: ['core', 'one'] },
      { at: 'compose.yml#services.web.ports', layers: ['core', 'one'] },
    ],
  });
});

const fromSetting = (fallback: string) => `\${PAGE_PORT${fallback}}`;
const long = { target: 80, published: '8080', host_ip: '127.0.0.1' };

test.each([
  ['127.0.0.1:8080:80', '127.0.0.1:8080:81', true],
  ['127.0.0.1:8080:80', '8080:80', true],
  ['127.0.0.1:8080:80', '0.0.0.0:8080:80', true],
  ['[::1]:8080:80', '0.0.0.0:8080:80', true],
  ['127.0.0.1:8080:80', '[::]:8080:80', true],
  ['127.0.0.1:8000-8100:8000-8100', '127.0.0.1:8080:80', true],
  ['127.0.0.1:8080:80', long, true],
  ['127.0.0.1:8080:80/tcp', { ...long, published: 8080, protocol: 'tcp' }, true],
  ['127.0.0.1:8080:80', '[::1]:8080:80', false],
  ['127.0.0.1:8080:80', '127.0.0.2:8080:80', false],
  ['127.0.0.1:8080:80/udp', '127.0.0.1:8080:80', false],
  ['127.0.0.1:8000-8079:8000-8079', '127.0.0.1:8080:80', false],
  ['127.0.0.1:8080:80', '[0:0:0:0:0:0:0:0]:8080:80', true],
  ['[::1]:8080:80', { ...long, host_ip: '0:0:0:0:0:0:0:1' }, true],
  ['[::1]:8080:80', '[0::1]:8080:80', true],
  ['8080:80/udp', { ...long, protocol: 'udp' }, true],
  ['8080:80/udp', '0.0.0.0:8080:80', false],
  ['8000-8010:8000-8010', '127.0.0.1:8010-8020:8010-8020', true],
  ['8000-8010:8000-8010', { target: 80, published: '8009-8011' }, true],
  ['8000-8010:8000-8010', { target: 80, published: '8011-8012' }, false],
  ['127.0.0.1:8080:80', `${fromSetting(':-8080')}:80`, true],
  ['127.0.0.1:8080:80', { ...long, published: fromSetting('-8080') }, true],
  ['127.0.0.1:8080:80', `${fromSetting(':-8081')}:80`, false],
  ['127.0.0.1::80', '127.0.0.1:80:80', false],
  ['127.0.0.1:8080:80', 80, false],
])('host ports %j and %j collide: %j', (one, other, isConflict) => {
  const { conflicts } = compose('docker-compose.yml', null, [
    declaration('a', { services: { x: { image: 'x', ports: [one] } } }),
    declaration('b', { services: { y: { image: 'y', ports: [other] } } }),
  ]);
  const expected = {
    at: 'docker-compose.yml#services.y.ports',
    kind: 'structured',
    layers: ['a', 'b'],
  };
  expect(conflicts).toEqual(isConflict ? [expected] : []);
});

test('a port that the core takes is a conflict with the core', () => {
  const taken = declaration('a', { services: { x: { ports: ['127.0.0.1:8080:80'] } } });
  const { conflicts, text } = compose('compose.yml', FILE, [taken]);
  expect(conflicts).toEqual([
    { at: 'compose.yml#services.x.ports', kind: 'structured', layers: ['core', 'a'] },
  ]);
  expect(text).toBe(FILE);
});

test.each(['- a\n', '{services: {}}\n', 'a: [1\n', 'a: 1\n---\nb: 2\n', 'a: *x\n'])(
  'a compose file of %j is reported and left as it is',
  (release) => {
    const declarations = [declaration('a', { services: { redis } })];
    const { text, conflicts } = compose('docker-compose.yml', release, declarations);
    expect(text).toBe(release);
    expect(conflicts).toEqual([
      { at: 'docker-compose.yml', kind: 'content', layers: ['core', 'a'] },
    ]);
  },
);

test('services in braces on one line are not guessed at', () => {
  const release = 'services: { b: { image: y } }\n';
  const { text, conflicts } = compose('compose.yml', release, [
    declaration('a', { services: { redis } }),
  ]);
  expect(text).toBe(release);
  expect(conflicts).toEqual([
    { at: 'compose.yml#services', kind: 'structured', layers: ['core', 'a'] },
  ]);
});

test.each([
  [
    null,
    '{\n  "apt": [\n    "ffmpeg",\n    "git"\n  ],\n  "npm": {\n    "tsx": "^4.1.0"\n  }\n}\n',
  ],
  ['{}', '{\n  "apt": [\n    "ffmpeg",\n    "git"\n  ],\n  "npm": {\n    "tsx": "^4.1.0"\n  }\n}'],
  [
    '{ "apt": ["curl", "git"], "npm": { "tsx": "^4.0.0" }, "pip": [] }\n',
    '{ "apt": ["curl", "ffmpeg", "git"], "npm": { "tsx": "^4.1.0" }, "pip": [] }\n',
  ],
])('the image’s packages are added to %j', (release, expected) => {
  const { text, conflicts, outcome } = compose('container/packages.json', release, [
    declaration('a', { apt: ['git', 'ffmpeg'], imageNpm: { tsx: '^4.0.0' } }),
    declaration('b', { apt: ['ffmpeg'], imageNpm: { tsx: '^4.1.0' } }),
  ]);
  expect(JSON.parse(text ?? '')).toEqual(JSON.parse(expected));
  expect(text).toBe(expected);
  expect(conflicts).toEqual([]);
  expect(outcome).toEqual({
    apt_packages: ['ffmpeg', 'git'],
    npm_dependencies: { tsx: '^4.1.0' },
  });
});

test('the image’s npm packages conflict like the project’s', () => {
  const { conflicts } = compose('container/packages.json', '{"npm": {"tsx": "^3.0.0"}}', [
    declaration('a', { imageNpm: { tsx: '^4.0.0' } }),
  ]);
  expect(conflicts).toEqual([
    { at: 'container/packages.json#npm.tsx', kind: 'structured', layers: ['core', 'a'] },
  ]);
});

const PATHS = ['package.json', '.env.example', 'docker-compose.yml', 'container/packages.json'];
const anyDeclaration = fc
  .record({
    npm: fc.dictionary(
      fc.constantFrom('a', 'b', 'c'),
      fc.constantFrom('^1.0.0', '^1.2.0', '1.x || 2.x'),
    ),
    env: fc.subarray(['ONE', 'TWO', 'THREE']),
    apt: fc.subarray(['git', 'curl']),
    services: fc
      .subarray(['redis', 'db'])
      .map((names) =>
        Object.fromEntries(names.map((name) => [name, { image: name, volumes: [`${name}:/v`] }])),
      ),
  })
  .map((fixture) => fixture);

test('the order of declarations does not matter', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...PATHS),
      fc.array(anyDeclaration, { minLength: 1, maxLength: 4 }),
      fc.infiniteStream(fc.nat()),
      (path, fixtures, keys) => {
        const declarations = fixtures.map((fixture, at) => declaration(`layer-${at}`, fixture));
        const shuffled = declarations
          .map((item) => ({ item, key: keys.next().value }))
          .sort((one, other) => Number(one.key) - Number(other.key))
          .map(({ item }) => item);
        const release = path.endsWith('json')
          ? '{"apt": ["git"], "dependencies": {"b": "1"}}'
          : null;
        expect(compose(path, release, shuffled)).toEqual(compose(path, release, declarations));
      },
    ),
    { numRuns: 150 },
  );
});

test('without a declaration for the file, the release’s bytes are the result', () => {
  const only = {
    'package.json': { env: ['A'] },
    '.env.example': { npm: { a: '1' } },
    'docker-compose.yml': { env: ['A'] },
    'container/packages.json': { npm: { a: '1' } },
    'package-lock.json': { npm: { a: '1' } },
  };
  fc.assert(
    fc.property(
      fc.constantFrom(...Object.entries(only)),
      fc.option(fc.uint8Array()),
      ([path, fixture], content) => {
        const release = content === null ? null : Buffer.from(content);
        const declarations = [declaration('a', fixture)];
        const result = composeStructured({
          path,
          kind: disputedKind(path),
          release,
          declarations,
        });
        expect(result).toEqual({ bytes: release, conflicts: [], outcome: {} });
      },
    ),
    { numRuns: 100 },
  );
});
