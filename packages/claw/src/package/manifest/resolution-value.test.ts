import { expect, test } from 'vitest';
import { checkValue, parseValue } from './resolution-value.ts';

const PORTS = 'docker-compose.yml#services.redis.ports';

test.each([
  ['package.json#dependencies.foo', ' ^1.2.0 ', '^1.2.0'],
  ['package.json#devDependencies.@a/b', '>=1 <3 || 5', '>=1 <3 || 5'],
  ['package.json#dependencies.foo', 'null', null],
  ['package.json#scripts.go', 'node a: # b', 'node a: # b'],
  ['package.json#private', 'true', true],
  ['package.json#files', '["a"]', ['a']],
  ['container/packages.json#npm.tsx', '^4', '^4'],
  ['container/packages.json#apt', 'git, curl', ['git', 'curl']],
  ['.env.example#NAME', 'null', 'null'],
  ['.env.example#NAME', '', ''],
  [PORTS, '127.0.0.1:6380:6379', ['127.0.0.1:6380:6379']],
  [PORTS, '127.0.0.1:80:80, 127.0.0.1:443:443', ['127.0.0.1:80:80', '127.0.0.1:443:443']],
  [PORTS, '["127.0.0.1:80:80"]', ['127.0.0.1:80:80']],
  ['compose.yml#services.redis.volumes', 'data:/data', ['data:/data']],
  ['compose.yml#services.redis.image', 'redis:8', 'redis:8'],
  ['compose.yml#services.redis.read_only', 'true', true],
  ['compose.yml#services.web.build', './page', './page'],
  ['compose.yml#volumes.data', '{ external: true }', { external: true }],
])('for %s, %j means %j', (path, text, value) => {
  expect(parseValue(path, text)).toEqual(value);
});

test.each([
  [['127.0.0.1:6379:6379'], ['127.0.0.1:6380:6379']],
  [['[::1]:6379:6379/udp'], ['[::1]:6380:6379/udp']],
  [['127.0.0.1:6380:6379'], ['127.0.0.1:6380:6379']],
  [
    [{ target: 6379, published: 6379, host_ip: '127.0.0.1' }],
    [{ target: 6379, published: '6380', host_ip: '127.0.0.1' }],
  ],
])('a bare port number moves the one port of %j', (present, value) => {
  expect(parseValue(PORTS, '6380', present)).toEqual(value);
});

test.each([
  ['package.json#dependencies.foo', 'latest', 'DEPENDENCY_REFUSED'],
  ['package.json#dependencies.foo', '*', 'DEPENDENCY_REFUSED'],
  ['package.json#peerDependencies.foo', 'git+https://example.org/a.git', 'DEPENDENCY_REFUSED'],
  ['container/packages.json#npm.tsx', '>2 <1', 'DEPENDENCY_REFUSED'],
  ['container/packages.json#apt', '--force', 'DEPENDENCY_REFUSED'],
  [PORTS, '8080:80', 'COMPOSE_REFUSED'],
  [PORTS, '127.0.0.1:99999:80', 'COMPOSE_REFUSED'],
  [PORTS, '6380', 'COMPOSE_REFUSED'],
  ['compose.yml#services.redis.volumes', '/etc:/data', 'COMPOSE_REFUSED'],
  ['compose.yml#services.redis.image', '[a]', 'COMPOSE_REFUSED'],
  ['compose.yml#services.redis.labels', '&a x', 'YAML_INVALID'],
  ['.env.example#NAME', 'a\nB=1', 'ENV_INVALID'],
])('for %s, %j is refused as %s', (path, text, code) => {
  expect(() => parseValue(path, text)).toThrow(expect.objectContaining({ code }));
});

test('a value that came from elsewhere is held to the same rules', () => {
  const refused = (path: string, value: unknown) => () => checkValue(path, value);
  expect(refused(PORTS, ['0.0.0.0:80:80'])).toThrow(
    expect.objectContaining({ code: 'COMPOSE_REFUSED', path: PORTS }),
  );
  expect(refused('package.json#dependencies.foo', { a: 1 })).toThrow('a range is text');
  expect(refused('.env.example#NAME', 1)).toThrow('one line');
  expect(refused('package.json#dependencies.foo', null)).not.toThrow();
});
