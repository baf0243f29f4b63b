import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listsOf, readChange, withRelease } from '../scripts/release/changelog.ts';
import { type Codebase, commitAll, temporaryCodebase } from '../src/testing/claw/codebase.ts';

const SCRIPT = join(import.meta.dirname, '..', 'scripts', 'release.ts');
const TODAY = new Date().toISOString().slice(0, 10);

/** A changelog in which nothing waits for a release. */
const OLD = '# Changelog of old\n\n## [1.0.0] - 2026-01-01\n\nThe first release.\n';

const change = (kind: string, text: string, skill = '') =>
  `---\nkind: ${kind}\n${skill === '' ? '' : `skill: ${skill}\n`}---\n${text}\n`;

test('the lists of a release are in the order of Keep a Changelog, each text an item', () => {
  const changes = [
    readChange('changes/b.md', change('fixed', 'A tag is found.')),
    readChange('changes/a.md', change('added', '`/quiet` is new:\nit keeps silent.')),
    readChange('changes/c.md', change('fixed', 'Another one.')),
  ];
  expect(listsOf(changes)).toBe(
    '### Added\n\n- `/quiet` is new:\n  it keeps silent.\n\n### Fixed\n\n- A tag is found.\n- Another one.\n',
  );
});

test.each([
  ['no head', 'Only a text.\n', 'changes/a.md does not begin with ---'],
  ['a kind that is none', change('improved', 'It is better.'), 'kind'],
  ['a key that is none', '---\nkind: added\nskil: web\n---\nIt is new.\n', 'skil'],
  ['no text', '---\nkind: added\n---\n\n', 'changes/a.md says nothing'],
])('a file with %s is refused by its path', (_, content, told) => {
  expect(() => readChange('changes/a.md', content)).toThrow(told);
});

test('a release is put above the older ones; a section that waits for it gets its date', () => {
  const old = '# Changelog\n\nAbout it.\n\n## [0.1.0] - unreleased\n\nThe first.\n';
  const first = withRelease(old, { version: '0.1.0', date: '2026-12-01', lists: '' });
  expect(first).toBe('# Changelog\n\nAbout it.\n\n## [0.1.0] - 2026-12-01\n\nThe first.\n');
  const second = withRelease(first, {
    version: '0.2.0',
    date: '2026-12-24',
    lists: '### Added\n\n- New.\n',
  });
  expect(second).toBe(
    '# Changelog\n\nAbout it.\n\n## [0.2.0] - 2026-12-24\n\n### Added\n\n- New.\n\n## [0.1.0] - 2026-12-01\n\nThe first.\n',
  );
});

test('the section of a skill that is not released yet gets the version that its manifest has now', () => {
  const old = '# Changelog of web\n\n## [Unreleased]\n\nThe first release.\n';
  const released = withRelease(old, { version: '1.3.2', date: '2026-12-01', lists: '' });
  expect(released).toBe('# Changelog of web\n\n## [1.3.2] - 2026-12-01\n\nThe first release.\n');
});

/** A project whose commands only say that they ran. */
function project(): Codebase {
  const ran = (name: string) => `node -e "require('fs').appendFileSync('ran.txt', '${name} ')"`;
  const scripts = {
    check: ran('check'),
    'test:all': ran('test:all'),
    'build:packages': ran('build'),
  };
  const codebase = temporaryCodebase(
    {
      '.gitignore': 'ran.txt\n',
      'package.json': `${JSON.stringify({ name: 'demo', version: '1.0.0', scripts }, null, 2)}\n`,
      'package-lock.json': `${JSON.stringify({ name: 'demo', version: '1.0.0', packages: { '': { version: '1.0.0' }, a: { version: '3.0.0' } } }, null, 2)}\n`,
      'CHANGELOG.md': '# Changelog\n\n## [1.0.0] - 2026-01-01\n\nThe first.\n',
      'skills/web/manifest.yaml': 'skill: web\nversion: 2.1.0\n',
      'skills/new/manifest.yaml': 'skill: new\nversion: 1.0.3\n',
      'skills/new/CHANGELOG.md': '# Changelog of new\n\n## [Unreleased]\n\nThe first release.\n',
      'skills/old/manifest.yaml': 'skill: old\nversion: 1.0.0\n',
      'skills/old/CHANGELOG.md': OLD,
      'src/old.ts': 'export const one = 1;\nexport const two = 2;\nexport const three = 3;\n',
      'src/kept.ts':
        'export const kept = true;\nexport const other = false;\nexport const last = 0;\n',
      'migrations.yaml': '- since: 1.1.0\n  path_map:\n    src/kept.ts: src/moved.ts\n',
    },
    { git: true },
  );
  codebase.git('mv', 'src/old.ts', 'src/new.ts');
  codebase.git('mv', 'src/kept.ts', 'src/moved.ts');
  codebase.git('config', 'user.name', 'Test');
  codebase.git('config', 'user.email', 'test@example.org');
  codebase.write({
    'changes/README.md': '# What the next release brings\n',
    'changes/quiet.md': change('added', '`/quiet` is new.'),
    'changes/found.md': change('fixed', 'A page is found.', 'web'),
  });
  commitAll(codebase, 'changes');
  return codebase;
}

function release(codebase: Codebase, ...args: readonly string[]) {
  return spawnSync(process.execPath, [SCRIPT, ...args], { cwd: codebase.root, encoding: 'utf8' });
}

test('a release is checked, tested, written, committed, tagged and packed, and pushes nothing', async () => {
  await using codebase = project();
  const before = codebase.tree();
  const shown = release(codebase, 'minor', '--dry-run');
  expect(shown.stdout).toContain('## [1.1.0]');
  expect(shown.stdout).toContain('src/old.ts moved to src/new.ts: say so in migrations.yaml');
  expect(shown.stdout).not.toContain('src/kept.ts');
  expect(codebase.tree()).toEqual(before);

  const made = release(codebase, 'minor');
  expect(made.stderr).not.toContain('Error');
  expect(made.status).toBe(0);
  expect(made.stdout).toContain('git push origin HEAD v1.1.0');
  expect(codebase.read('ran.txt')).toBe('check test:all build ');
  expect(codebase.read('CHANGELOG.md')).toContain(
    `## [1.1.0] - ${TODAY}\n\n### Added\n\n- \`/quiet\` is new.\n`,
  );
  expect(codebase.read('skills/web/CHANGELOG.md')).toBe(
    `# Changelog of web\n\n## [2.1.0] - ${TODAY}\n\n### Fixed\n\n- A page is found.\n`,
  );
  expect(codebase.read('skills/new/CHANGELOG.md')).toBe(
    `# Changelog of new\n\n## [1.0.3] - ${TODAY}\n\nThe first release.\n`,
  );
  expect(codebase.read('skills/old/CHANGELOG.md')).toBe(OLD);
  expect(JSON.parse(codebase.read('package-lock.json'))).toMatchObject({
    version: '1.1.0',
    packages: { '': { version: '1.1.0' }, a: { version: '3.0.0' } },
  });
  expect(codebase.has('changes/quiet.md')).toBe(false);
  expect(codebase.has('changes/README.md')).toBe(true);
  expect(codebase.git('status', '--porcelain')).toBe('');
  expect(codebase.git('describe', '--exact-match').trim()).toBe('v1.1.0');
});

test('a release that cannot be made changes nothing and says what to do', async () => {
  await using codebase = project();
  const before = codebase.tree();
  expect(release(codebase, '1.0.0').stderr).toContain('1.0.0 does not come after v1.0.0');
  expect(release(codebase, 'soon').stderr).toContain('Say which release');
  codebase.write({ 'src/new.ts': 'edited\n' });
  const dirty = release(codebase, 'patch', '--tested');
  expect(dirty).toMatchObject({ status: 1 });
  expect(dirty.stderr).toContain('Not everything is committed');
  codebase.write({ 'changes/odd.md': 'no head\n' });
  expect(release(codebase, 'patch').stderr).toContain('changes/odd.md does not begin with ---');
  codebase.git('checkout', '--', 'src/new.ts');
  codebase.remove('changes/odd.md');
  expect(codebase.tree()).toEqual(before);
  expect(codebase.git('tag').trim()).toBe('v1.0.0');
});
