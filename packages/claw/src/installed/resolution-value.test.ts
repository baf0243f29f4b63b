import { expect, test } from 'vitest';
import { digestBytes } from '../digest.ts';
import { type Answer, resolutionKey, type Subject, valueDigest } from './resolution.ts';
import { parseResolution, renderAnswered } from './resolution-file.ts';

const OPEN = ['0.0.0.0:80:80'];

function read(path: string, answer: Answer, isOwn = false) {
  const subject: Subject = {
    path,
    kind: 'structured',
    layers: ['core', 'a'],
    sides: {
      base: 'absent',
      ours: valueDigest(['8080:80']),
      theirs: valueDigest(['127.0.0.1:80:80']),
    },
  };
  const bytes = renderAnswered({ subject, answer, origin: 'owner' });
  const pinned = isOwn ? digestBytes(bytes) : null;
  return parseResolution(bytes, { key: resolutionKey(subject, answer), place: 'x.yaml', pinned });
}

test('a value from elsewhere is one of the sides’, or one that a skill could declare', () => {
  const ports = 'compose.yml#services.a.ports';
  expect(read(ports, { kind: 'value', value: ['8080:80'] }).answer).toMatchObject({
    value: ['8080:80'],
  });
  expect(read(ports, { kind: 'value', value: ['127.0.0.1:81:80'] }).isOwn).toBe(false);
  expect(() => read(ports, { kind: 'value', value: OPEN })).toThrow(
    expect.objectContaining({ code: 'RESOLUTION_INVALID' }),
  );
  expect(() =>
    read('package.json#dependencies.a', { kind: 'value', value: 'git+https://example.org/a' }),
  ).toThrow(expect.objectContaining({ code: 'RESOLUTION_INVALID' }));
  expect(read(ports, { kind: 'value', value: OPEN }, true).isOwn).toBe(true);
});
