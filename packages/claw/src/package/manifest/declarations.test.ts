import { expect, test } from 'vitest';
import { manifestText } from '../package-fixture.ts';
import { errorOf } from '../testing/error-of.ts';
import { parseManifest } from '../testing/parse-manifest.ts';

function refusal(structured: Readonly<Record<string, unknown>>) {
  return errorOf(() => parseManifest(manifestText({ structured })));
}

test.each([
  '*',
  '',
  ' ',
  'x',
  'latest',
  '>=0.0.0',
  '1 || *',
  '>2 <1',
  '^1 || next',
  'git+https://example.org/a.git',
  'someone/somewhere',
  'https://example.org/a.tgz',
  'file:../a',
  'npm:other@1',
  'workspace:^1',
  `1${' || 1'.repeat(80)}`,
])('an npm range of %j is refused', (range) => {
  expect(refusal({ npm_dependencies: { a: range } })).toEqual({
    code: 'DEPENDENCY_REFUSED',
    path: 'manifest.yaml:structured.npm_dependencies.a',
  });
});

test.each(['^1.2.3', '~0.4', '1.x', '>=1 <3', '1 || 2', '1.2.3 - 2.0.0', '^2.0.0-rc.1'])(
  'an npm range of %j is taken',
  (range) => {
    expect(refusal({ npm_dependencies: { '@scope/a': range } })).toBeNull();
  },
);

test.each([
  ...['../a', '@a', 'a b', '.a', '_a', 'node_modules', 'NODE_MODULES', 'a/b', '@s/.a'],
  ...['--prefix', '-g', `a${'b'.repeat(214)}`],
])('an npm package named %j is refused', (name) => {
  expect(refusal({ container: { npm_dependencies: { [name]: '^1.0.0' } } })).toEqual({
    code: 'DEPENDENCY_REFUSED',
    path: `manifest.yaml:structured.container.npm_dependencies.${name}`,
  });
});

test.each(['a', 'A', '~a', 'a.b', 'a_b', '@scope/a', '@s-1/a', '@s/_a'])(
  'an npm package named %j is taken',
  (name) => {
    expect(refusal({ npm_dependencies: { [name]: '^1.0.0' } })).toBeNull();
  },
);

test('a Debian package is a name and nothing that a shell would read', () => {
  const path = 'manifest.yaml:structured.container.apt_packages.1';
  expect(refusal({ container: { apt_packages: ['ffmpeg', 'a && id'] } })).toEqual({
    code: 'DEPENDENCY_REFUSED',
    path,
  });
  expect(refusal({ container: { apt_packages: ['libstdc++6', 'g++'] } })).toBeNull();
});

test.each([
  'path',
  'A-B',
  '1A',
  `A${'B'.repeat(64)}`,
  ...['PATH', 'NODE_OPTIONS', 'LD_PRELOAD', 'DYLD_INSERT_LIBRARIES', 'GIT_DIR', 'HOME', 'SHELL'],
  ...['npm_config_registry', 'NPM_CONFIG_REGISTRY', 'IFS', 'BASH_ENV', 'ENV', 'PYTHONPATH'],
  ...['PERL5LIB', 'RUBYOPT', 'JAVA_TOOL_OPTIONS', 'SSL_CERT_FILE', 'HTTP_PROXY', 'HTTPS_PROXY'],
])('a setting named %j is refused', (name) => {
  expect(refusal({ env_additions: ['FINE', { name }] })).toEqual({
    code: 'ENV_INVALID',
    path: 'manifest.yaml:structured.env_additions.1',
  });
});

test('a setting’s example and description stay within their lines', () => {
  const example = [{ name: 'A', example: 'x\nPATH=/tmp' }];
  expect(refusal({ env_additions: example })?.path).toMatch(/env_additions\.0\.example$/);
  const description = [{ name: 'A', description: 'x\r\u001b[2J' }];
  expect(refusal({ env_additions: description })?.path).toMatch(/env_additions\.0\.description$/);
});

test.each(['ANTHROPIC_API_KEY', 'MODEL', 'ASSISTANT_NAME', 'CLAW_SANDBOX', 'TELEGRAM_BOT_TOKEN'])(
  'the assistant’s own setting %s is taken',
  (name) => {
    expect(refusal({ env_additions: [name] })).toBeNull();
  },
);

test.each([
  ['privileged', true],
  ['network_mode', 'host'],
  ['cap_add', ['ALL']],
  ['build', '.'],
  ['deploy', {}],
  ['env_file', '.env'],
  ['x-anything', 1],
  ['image', 3],
  ['command', { a: 1 }],
  ['environment', { A: { b: 1 } }],
  ['read_only', 'yes'],
  ['healthcheck', 'true'],
  ['mem_limit', {}],
  ['ports', '127.0.0.1:80:80'],
  ['ports', [8080]],
  ['ports', ['8080:80']],
  ['ports', ['0.0.0.0:8080:80']],
  ['ports', ['[::]:8080:80']],
  ['ports', ['localhost:8080:80']],
  ['ports', ['127.0.0.1:80:70000']],
  ['ports', ['127.0.0.1:90-80:90-80']],
  ['ports', ['127.0.0.1:$PORT:80']],
  ['ports', [{ target: 80, published: 8080 }]],
  ['ports', [{ target: 80, published: 8080, host_ip: '0.0.0.0' }]],
  ['ports', [{ target: 80, host_ip: '127.0.0.1', mode: 'host' }]],
  ['volumes', ['/etc:/etc']],
  ['volumes', ['./src:/src']],
  ['volumes', ['../data:/data']],
  ['volumes', ['./data/../src:/src']],
  ['volumes', ['./data:/a/../b']],
  ['volumes', ['/anonymous']],
  ['volumes', ['~/x:/x']],
  ['volumes', ['cache:/x:z']],
  ['volumes', ['/var/run/docker.sock:/var/run/docker.sock']],
  ['volumes', [{ type: 'bind', source: '/', target: '/host' }]],
  ['volumes', [{ type: 'volume', source: 'a', target: '/a', volume: {} }]],
])('a service with %s: %j is refused', (key, value) => {
  expect(refusal({ docker_compose_services: { web: { image: 'x', [key]: value } } })).toEqual({
    code: 'COMPOSE_REFUSED',
    path: `manifest.yaml:structured.docker_compose_services.web.${key}`,
  });
});

test('a service that says all that is allowed is taken as it is', () => {
  const service = {
    image: 'redis:7',
    command: ['redis-server', '--save', '60'],
    environment: { A: 'b', N: 1, EMPTY: null },
    ports: [
      '127.0.0.1:6379:6379',
      '[::1]:6379:6379/udp',
      '127.0.0.1:8000-8005:80-85',
      { target: 80, published: '8080', host_ip: '127.0.0.1', protocol: 'tcp' },
    ],
    volumes: [
      'cache:/data:ro',
      './data/redis:/data',
      { type: 'bind', source: './data', target: '/d', read_only: true },
      { type: 'volume', source: 'cache', target: '/c' },
    ],
    restart: 'unless-stopped',
    depends_on: { db: { condition: 'service_healthy' } },
    healthcheck: { test: ['CMD', 'true'], interval: '5s' },
    expose: [6379],
    labels: ['a=b'],
    user: '1000:1000',
    read_only: true,
    tmpfs: '/tmp',
    mem_limit: '64m',
    cpus: 0.5,
  };
  const text = manifestText({ structured: { docker_compose_services: { redis: service } } });
  expect(parseManifest(text).structured.composeServices).toEqual({ redis: service });
});

test('what is wrong with a dependence is said before what is wrong with a service', () => {
  const bad = {
    docker_compose_services: { web: { privileged: true } },
    env_additions: ['PATH'],
    npm_dependencies: { a: '*' },
  };
  expect(refusal(bad)?.code).toBe('DEPENDENCY_REFUSED');
  expect(refusal({ ...bad, npm_dependencies: {} })?.code).toBe('ENV_INVALID');
});
