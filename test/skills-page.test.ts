import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { readStarterSet } from '../src/lib/starter-set.ts';

const HOME = join(import.meta.dirname, '..');
const PAGE = join(HOME, 'docs/skills.md');
const README = join(HOME, 'README.md');

const Manifest = z.object({
  skill: z.string(),
  version: z.string(),
  description: z.string(),
  adds: z.array(z.string()).default([]),
  modifies: z.array(z.string()).default([]),
  depends: z.array(z.string()).default([]),
  structured: z
    .object({
      npm_dependencies: z.record(z.string(), z.string()).default({}),
      env_additions: z.array(z.union([z.string(), z.object({ name: z.string() })])).default([]),
    })
    .prefault({}),
});
type Manifest = z.output<typeof Manifest>;

/** Returns the skills of this repository by name. */
function readManifests(): readonly Manifest[] {
  const folder = join(HOME, 'skills');
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) =>
      Manifest.parse(parse(readFileSync(join(folder, name, 'manifest.yaml'), 'utf8'))),
    )
    .sort((one, other) => (one.skill < other.skill ? -1 : 1));
}

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
    const packages = Object.keys(structured.npm_dependencies).map((name) => `\`${name}\``);
    const changes = modifies.map((path) => `\`${path}\``);
    const needs = [...depends, ...packages];
    const cells = [
      `[${skill}](../skills/${skill}/SKILL.md) ${version}`,
      description,
      commandsOf(manifest).join(', '),
      needs.join(', ') || 'nothing',
      String(structured.env_additions.length),
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
  const table = tableOf(readManifests());
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

/** Returns the skills that bring a channel, with links, as the end of a sentence. */
function channelsOf(skills: readonly Manifest[]): string {
  const links = skills
    .filter(({ adds }) => adds.some((path) => /^src\/channels\/[^/]+\.ts$/.test(path)))
    .map(({ skill }) => {
      const page = readFileSync(join(HOME, 'skills', skill, 'SKILL.md'), 'utf8');
      return `[${/^# (.*)$/m.exec(page)?.[1]}](skills/${skill}/SKILL.md)`;
    });
  return `${links.slice(0, -1).join(', ')} and ${links.at(-1)}.`;
}

test('README.md names every skill that brings a channel', () => {
  const readme = readFileSync(README, 'utf8');
  const brought = readme.replace(/(?<=^ {2}by skills on ).*$/m, () => channelsOf(readManifests()));
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(README, brought);
  else expect(readme, 'UPDATE_DOCS=1 npx vitest run test/skills-page.test.ts').toBe(brought);
  expect(brought).toContain('[Telegram](skills/telegram/SKILL.md)');
});

test('the pages of the skills write commands as they work in a clone', () => {
  const plain = readManifests().flatMap(({ skill }) => {
    const page = readFileSync(join(HOME, 'skills', skill, 'SKILL.md'), 'utf8');
    return page.match(/^claw [a-z].*|`claw [a-z][^`]*`/gm) ?? [];
  });
  expect(plain).toEqual([]);
});

test('at least six packages change files that are there, and two of these change files of another skill', () => {
  const all = readManifests();
  const isOfSkill = (path: string) => all.some(({ adds }) => adds.includes(path));
  const changing = all.filter(({ modifies }) => modifies.length > 0);
  const ofSkills = changing.filter(({ modifies }) => modifies.some(isOfSkill));
  expect(changing.length, String(changing.map(({ skill }) => skill))).toBeGreaterThanOrEqual(6);
  expect(ofSkills.length, String(ofSkills.map(({ skill }) => skill))).toBeGreaterThanOrEqual(2);
});
