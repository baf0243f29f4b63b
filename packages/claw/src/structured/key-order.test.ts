import fc from 'fast-check';
import { expect, test } from 'vitest';
import { declaration } from './declaration-fixture.ts';
import { composeStructured } from './declared-file.ts';
import { mergeStructured } from './merge.ts';
import { disputedKind } from './structured-kind.ts';

function merge(path: string, base: string, ours: string, theirs: string): string {
  const versions = {
    base: Buffer.from(base),
    ours: Buffer.from(ours),
    theirs: Buffer.from(theirs),
  };
  const { bytes, conflicts } = mergeStructured({
    path,
    kind: disputedKind(path),
    versions,
    layers: ['you', 'core'],
  });
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

test('the neighbours of an owner’s key stay beside it', () => {
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

test('a key that both added is where theirs has it, with what is above it', () => {
  const base = 'HOST=h\n\n# of b\nBEE=\n';
  const theirs = 'HOST=h\n\n# of a\nANT=1\n\n# of b\nBEE=\n';
  for (const gap of ['\n', '', '\n\n']) {
    const ours = `${base}${gap}# of a\nANT=1\n`;
    expect(merge('.env.example', base, ours, theirs)).toBe(theirs);
    expect(merge('.env.example', base, `${ours}OWN=\n`, theirs)).toBe(
      theirs.replace('ANT=1\n', 'ANT=1\nOWN=\n'),
    );
  }
  // Another comment of ours is kept beside.
  expect(merge('.env.example', base, `${base}\n# mine\nANT=1\n`, theirs)).toContain('# mine');
  const [first, both] = [{ a: '1' }, { a: '1', b: '1', c: '1' }];
  const dependencies = (list: object) => json({ name: 'app', dependencies: list });
  expect(
    merge(
      'package.json',
      dependencies(first),
      dependencies({ ...first, c: '1', b: '1' }),
      dependencies(both),
    ),
  ).toBe(dependencies(both));
});

test('the same holds for a compose file, map by map', () => {
  const base = 'services:\n  a:\n    image: a\n    init: true\n  b:\n    image: b\n';
  const theirs = 'services:\n  b:\n    image: b\n  a:\n    init: true\n    image: a\n';
  expect(merge('docker-compose.yml', base, base.replace('image: b', 'image: c'), theirs)).toBe(
    theirs.replace('image: b', 'image: c'),
  );
});

const RELEASE = Buffer.from('# Where it listens\nPORT=8080\n# OFF=1\n');

/** `.env.example` of skills that declare one setting each, by the skills' names. */
function composedOf(skills: readonly string[]): Buffer {
  const declarations = skills.map((skill) => declaration(skill, { env: [settingOf(skill)] }));
  const path = '.env.example';
  return composeStructured({ path, kind: 'env', release: RELEASE, declarations }).bytes ?? RELEASE;
}

const settingOf = (skill: string) => `${skill.toUpperCase()}_KEY`;

test('settings that the owner wrote before their skills came are no edit afterwards, in whatever order', () => {
  const names = ['ant', 'bee', 'cow', 'dog', 'elk'];
  const skills = fc.record({
    present: fc.subarray(names),
    coming: fc.shuffledSubarray(names, { minLength: 1 }),
    gaps: fc.array(fc.constantFrom('', '\n', '\n\n'), { minLength: 5, maxLength: 5 }),
  });
  fc.assert(
    fc.property(skills, ({ present, coming, gaps }) => {
      const written = coming.filter((skill) => !present.includes(skill));
      const base = composedOf(present);
      const theirs = composedOf([...present, ...written]);
      const lines = written.map((skill, at) => `${gaps[at]}${settingOf(skill)}=\n`);
      const ours = `${base}${lines.join('')}`;
      expect(merge('.env.example', `${base}`, ours, `${theirs}`)).toBe(`${theirs}`);
    }),
  );
});
