import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Manifest } from '../packages/claw/src/package/manifest/manifest.ts';
import { readStarterSet } from '../src/lib/starter-set.ts';
import { bundledSkills, manifestOf } from '../src/testing/claw/bundled-skills.ts';

const HOME = join(import.meta.dirname, '..');
const PAGE = join(HOME, 'docs/skills.md');
const README = join(HOME, 'README.md');

/** Returns the commands that a skill brings, as they are typed. */
function commandsOf({ skill, adds }: Manifest): readonly string[] {
  return adds
    .filter((path) => path.startsWith('src/commands/'))
    .flatMap((path) => {
      const text = readFileSync(join(HOME, 'skills', skill, 'add', path), 'utf8');
      const [, name] = /\bdefineCommand\(\{[^}]*?\bname: '([^']+)'/.exec(text) ?? [];
      return name === undefined ? [] : [`\`/${name}\``];
    });
}

/** Returns the page's table, a row for each skill. */
function tableOf(skills: readonly Manifest[]): string {
  const rows = skills.map((manifest) => {
    const { skill, version, description, modifies, depends, structured } = manifest;
    const packages = Object.keys(structured.npmDependencies).map((name) => `\`${name}\``);
    const changes = modifies.map((path) => `\`${path}\``);
    const skills = depends.map(({ name, range }) => (range === '*' ? name : `${name}@${range}`));
    const needs = [...skills, ...packages];
    const cells = [
      `[${skill}](../skills/${skill}/SKILL.md) ${version}`,
      description,
      commandsOf(manifest).join(', '),
      needs.join(', ') || 'nothing',
      String(structured.envAdditions.length),
      changes.join(', ') || 'no file of the core',
    ];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return [
    '| skill | what it does | commands | needs | settings | changes |',
    '|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

test('docs/skills.md has a row for each skill, as its manifest says it', () => {
  const table = tableOf(bundledSkills().map(manifestOf));
  const page = readFileSync(PAGE, 'utf8');
  const brought = page.replace(/^\| skill [\s\S]*?(?=\n\n)/m, () => table);
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(PAGE, brought);
  else expect(page, 'UPDATE_DOCS=1 npx vitest run test/skills-page.test.ts').toBe(brought);
  expect(brought).toContain(table);
});

test('the starter set names skills that are here', () => {
  const { all } = readStarterSet(HOME);
  const read: unknown = JSON.parse(readFileSync(join(HOME, 'skills/starter-set.json'), 'utf8'));
  expect(all).toEqual(read);
});

test('README.md names each skill that brings a channel where it says where people meet the assistant', () => {
  const readme = readFileSync(README, 'utf8');
  const [meets = ''] = /^- \*\*Meets you where you chat\*\*[\s\S]*?(?=\n- )/m.exec(readme) ?? [];
  const channels = bundledSkills()
    .map(manifestOf)
    .filter(({ adds }) => adds.some((path) => /^src\/channels\/[^/]+\.ts$/.test(path)))
    .map(({ skill }) => skill);
  const named = [...meets.matchAll(/\]\(skills\/([\w-]+)\/SKILL\.md\)/g)].map(([, name]) => name);
  expect(named.toSorted()).toEqual(channels.toSorted());
});

test('the pages of the skills write commands as they work in a clone', () => {
  const plain = bundledSkills()
    .map(manifestOf)
    .flatMap(({ skill }) => {
      const page = readFileSync(join(HOME, 'skills', skill, 'SKILL.md'), 'utf8');
      return page.match(/^claw [a-z].*|`claw [a-z][^`]*`/gm) ?? [];
    });
  expect(plain).toEqual([]);
});

test('at least six packages change files that are there, and two of these change files of another skill', () => {
  const all = bundledSkills().map(manifestOf);
  const isOfSkill = (path: string) => all.some(({ adds }) => adds.includes(path));
  const changing = all.filter(({ modifies }) => modifies.length > 0);
  const ofSkills = changing.filter(({ modifies }) => modifies.some(isOfSkill));
  expect(changing.length, String(changing.map(({ skill }) => skill))).toBeGreaterThanOrEqual(6);
  expect(ofSkills.length, String(ofSkills.map(({ skill }) => skill))).toBeGreaterThanOrEqual(2);
});
