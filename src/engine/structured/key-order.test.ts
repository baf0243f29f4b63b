import { expect, test } from 'vitest';
import { mergeStructured } from './merge.ts';

function merge(path: string, base: string, ours: string, theirs: string): string {
  const versions = {
    base: Buffer.from(base),
    ours: Buffer.from(ours),
    theirs: Buffer.from(theirs),
  };
  const { bytes, conflicts } = mergeStructured({ path, versions, layers: ['you', 'core'] });
  expect(conflicts).toEqual([]);
  return bytes?.toString() ?? '';
}

const json = (value: object) => `${JSON.stringify(value, null, 2)}\n`;
const BASE = { name: 'app', exports: { node: './n.js', default: './d.js' }, files: ['a'] };

test('an order of keys that theirs changed is taken beside an edit of ours', () => {
  const ours = { ...BASE, name: 'mine', own: true };
  const exports = { default: './d.js', node: './n.js' };
  const theirs = { files: ['a'], name: 'app', exports };
  const merged = merge('package.json', json(BASE), json(ours), json(theirs));
  expect(merged).toBe(json({ files: ['a'], own: true, name: 'mine', exports }));
});

test('what stands beside an owner’s key goes on standing beside it', () => {
  const ours = json({ own: 1, name: 'app', also: 2, exports: BASE.exports, files: ['a'] });
  const theirs = json({ exports: BASE.exports, name: 'app', files: ['a'] });
  const merged = merge('package.json', json(BASE), ours, theirs);
  expect(merged).toBe(json({ own: 1, exports: BASE.exports, name: 'app', also: 2, files: ['a'] }));
});

test('an order of keys that ours changed stays, whatever theirs does', () => {
  const exports = { default: './d.js', node: './n.js' };
  const ours = json({ files: ['a'], exports, name: 'app' });
  expect(merge('package.json', json(BASE), ours, json({ ...BASE, version: '2' }))).toBe(
    json({ files: ['a'], version: '2', exports, name: 'app' }),
  );
  const added = { ...BASE, exports: { ...BASE.exports, import: './i.js' } };
  expect(merge('package.json', json(BASE), ours, json(added))).toBe(
    json({
      files: ['a'],
      exports: { default: './d.js', import: './i.js', node: './n.js' },
      name: 'app',
    }),
  );
  const other = json({ exports: BASE.exports, name: 'app', files: ['a'] });
  expect(merge('package.json', json(BASE), ours, other)).toBe(ours);
});

test('the same holds for settings, whose comments go with them', () => {
  const base = '# one\nONE=1\nTWO=2\nTHREE=3\n';
  const theirs = 'TWO=2\n# one\nONE=1\nTHREE=3\n';
  expect(merge('.env.example', base, base.replace('3', '33'), theirs)).toBe(
    theirs.replace('3', '33'),
  );
  expect(merge('.env.example', base, 'THREE=3\n# one\nONE=1\nTWO=2\n', theirs)).toBe(
    'THREE=3\n# one\nONE=1\nTWO=2\n',
  );
});

test('and for a compose file, map by map', () => {
  const base = 'services:\n  a:\n    image: a\n    init: true\n  b:\n    image: b\n';
  const theirs = 'services:\n  b:\n    image: b\n  a:\n    init: true\n    image: a\n';
  expect(merge('docker-compose.yml', base, base.replace('image: b', 'image: c'), theirs)).toBe(
    theirs.replace('image: b', 'image: c'),
  );
});
