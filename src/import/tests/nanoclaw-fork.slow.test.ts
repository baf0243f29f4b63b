import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { planLines } from '../report.ts';
import { digests, Installation } from './bench.ts';
import { makeNanoclaw, writeFiles } from './nanoclaw-store.ts';

const TELEGRAM = 'export class TelegramChannel {}\n';
const MANIFEST = { name: 'nanoclaw', version: '1.2.11', dependencies: { baileys: '^7.0.0' } };

test('each place that the plan names for code is a folder of this project', () => {
  const source = readFileSync(join(import.meta.dirname, '../sources/nanoclaw-fork.ts'), 'utf8');
  const named = [...source.matchAll(/ in ((?:src|container)\/[\w./-]*\w)/g)].map(
    ([, path = '']) => path,
  );
  expect(named.length).toBeGreaterThan(5);
  const home = join(import.meta.dirname, '../../..');
  expect(named.filter((path) => !existsSync(join(home, path)))).toEqual([]);
});

function git(root: string, ...args: readonly string[]): string {
  const who = [
    '-c',
    'user.name=Test',
    '-c',
    'user.email=test@example.org',
    '-c',
    'maintenance.auto=false',
  ];
  return execFileSync('git', [...who, ...args], { cwd: root, encoding: 'utf8' });
}

function commit(root: string, message: string): void {
  git(root, 'add', '--all');
  git(root, 'commit', '--quiet', '-m', message);
}

/** Makes NanoClaw's own repository, with the files of its releases that an owner changes, and two versions. */
function makeUpstream(): string {
  const root = mkdtempSync(join(tmpdir(), 'claw-upstream-'));
  git(root, 'init', '--quiet', '--initial-branch=main');
  writeFiles(root, {
    '.gitignore': 'node_modules/\ndist/\nstore/\ndata/\nlogs/\n.env\ngroups/*\n',
    'package.json': JSON.stringify(MANIFEST, null, 2),
    'README.md': '# NanoClaw\n',
    'src/index.ts': 'start();\n',
    'src/router.ts': 'export const route = 1;\n',
    'src/config.ts': 'export const NAME = "Andy";\n',
    'src/channels/index.ts': '// channels\n',
    'src/channels/registry.ts': 'export const registry = new Map();\n',
    'src/task-scheduler.ts': 'export const tick = 1;\n',
    'container/Dockerfile': 'FROM node:22-slim\n',
    'container/agent-runner/src/ipc-mcp-stdio.ts': 'server();\n',
    '.claude/skills/add-telegram/SKILL.md': '---\nname: add-telegram\n---\n',
    '.claude/skills/add-telegram/manifest.yaml': 'skill: telegram\nversion: 1.0.0\n',
    '.claude/skills/add-telegram/add/src/channels/telegram.ts': TELEGRAM,
    '.claude/skills/add-parallel/SKILL.md': '---\nname: add-parallel\n---\n',
    '.claude/skills/add-parallel/manifest.yaml': 'skill: parallel\nversion: 1.0.0\n',
  });
  commit(root, 'feat: everything');
  const next = { ...MANIFEST, version: '1.2.12' };
  writeFiles(root, { 'package.json': JSON.stringify(next, null, 2) });
  commit(root, 'chore: bump version to 1.2.12');
  return root;
}

/** Makes a NanoClaw with a store and a fork’s history: skills, a release of its own that is newer upstream, and edits. */
function makeFork() {
  const upstream = makeUpstream();
  const source = makeNanoclaw();
  const { root } = source;
  git(root, 'init', '--quiet', '--initial-branch=main');
  git(root, 'remote', 'add', 'upstream', upstream);
  git(root, 'fetch', '--quiet', 'upstream');
  rmSync(join(root, 'package.json'), { force: true });
  git(root, 'checkout', '--quiet', '--force', '-B', 'main', 'upstream/main');
  // Upstream goes on: what it does later is no work of the owner’s.
  writeFiles(upstream, { 'src/later.ts': 'later\n', 'src/router.ts': 'export const route = 2;\n' });
  commit(upstream, 'feat: later');
  git(root, 'fetch', '--quiet', 'upstream');
  const index = "import './telegram.js';\n";
  const hash = (text: string) => createHash('sha256').update(text).digest('hex');
  writeFiles(root, {
    'src/channels/telegram.ts': TELEGRAM,
    'src/channels/index.ts': index,
    'src/parallel.ts': 'parallel\n',
    '.nanoclaw/state.yaml': JSON.stringify({
      skills_system_version: '0.1.0',
      core_version: '1.2.12',
      applied_skills: [
        {
          name: 'telegram',
          version: '1.0.0',
          file_hashes: { 'src/channels/index.ts': hash(index), 'src/config.ts': hash('old') },
        },
        {
          name: 'add-parallel',
          version: '1.0.0',
          file_hashes: { 'src/parallel.ts': hash('parallel\n') },
        },
      ],
    }),
  });
  commit(root, 'feat: add telegram and parallel');
  const dependencies = { ...MANIFEST.dependencies, openmeteo: '^1.0.0' };
  writeFiles(root, {
    'src/router.ts': 'export const route = "mine";\n',
    'src/config.ts': 'export const NAME = "Nano";\n',
    'src/weather-command.ts': 'weather\n',
    'src/channels/pigeon.ts': 'pigeon\n',
    'src/channels/discord.ts': 'merged from a branch\n',
    'package.json': JSON.stringify({ ...MANIFEST, version: '1.2.12', dependencies }, null, 2),
    '.claude/skills/add-weather/SKILL.md': '---\nname: add-weather\n---\n',
    '.claude/skills/add-weather/manifest.yaml': 'skill: weather\nversion: 1.0.0\n',
    '.claude/skills/add-mood/SKILL.md': '---\nname: add-mood\n---\n',
  });
  rmSync(join(root, 'src/task-scheduler.ts'));
  commit(root, 'feat: weather');
  // Not committed, one of them not even known to git.
  writeFiles(root, {
    'container/agent-runner/src/ipc-mcp-stdio.ts': 'server("mine");\n',
    'notes.txt': 'mine\n',
  });
  return { ...source, upstream };
}

test('the code of a fork is compared with the upstream commit that it left, and nothing is written there', async () => {
  const { root, home } = makeFork();
  const ran = join(home, 'ran');
  git(root, 'config', 'core.fsmonitor', `touch ${ran}; false`);
  const before = digests(root);
  const here = new Installation();
  const { plan } = await here.import({ root, home }, { isPlanOnly: true });
  const lines = planLines(plan);
  const from = lines.findIndex((line) => line.startsWith('Its code'));
  const skills = join(root, '.claude/skills');
  const code = lines.slice(
    from,
    lines.findIndex((line) => line.startsWith('One login')),
  );
  expect(code.map((line) => line.replaceAll(skills, 'SKILLS'))).toEqual([
    expect.stringMatching(/^Its code, beside NanoClaw 1\.2\.12 \([0-9a-f]{9}\):$/),
    '  discord: here as a skill: npx claw apply discord (src/channels/discord.ts)',
    '  telegram: here as a skill: npx claw apply telegram (src/channels/index.ts, src/channels/telegram.ts)',
    "  parallel: a skill of NanoClaw's: npx claw apply SKILLS/add-parallel (src/parallel.ts)",
    '  .claude/skills/add-mood: instructions for a coding agent that change NanoClaw; write them anew for this code: docs/writing-a-skill.md',
    '  .claude/skills/add-weather: a skill package of yours: npx claw apply SKILLS/add-weather',
    '  container/agent-runner/src/ipc-mcp-stdio.ts: yours, changed. Place: a tool that agents ask the host for, in src/tools/: docs/extending.md',
    '  notes.txt: yours, added. Place: a file of your own: docs/extending.md says where each kind goes',
    '  package.json: yours, changed (adds openmeteo). Place: npm_dependencies in the manifest of the skill that needs them: docs/writing-a-skill.md',
    '  src/channels/pigeon.ts: yours, added. Place: a channel, in src/channels/: docs/writing-a-channel.md',
    '  src/config.ts: yours, changed. Place: settings of the contribution that reads them: docs/extending.md',
    '  src/router.ts: yours, changed. Place: an inbound filter, in src/inbound-filters/, or a part of a channel: docs/extending.md',
    '  src/weather-command.ts: yours, added. Place: a command, in src/commands/: docs/extending.md',
    '  src/task-scheduler.ts: deleted by you; nothing to do',
  ]);
  expect(digests(root)).toEqual(before);
  expect(existsSync(ran)).toBe(false);
});

test('without a remote of NanoClaw the recorded version tells, and without that the plan says so', async () => {
  const { root, home } = makeFork();
  const baseOf = async () =>
    (await new Installation().import({ root, home }, { isPlanOnly: true })).plan;
  const left = git(root, 'rev-parse', '--short=9', 'upstream/main~1').trim();
  git(root, 'remote', 'remove', 'upstream');
  expect((await baseOf()).codeBase).toBe(`1.2.12 (${left})`);
  const state = join(root, '.nanoclaw/state.yaml');
  writeFiles(root, {
    '.nanoclaw/state.yaml': readFileSync(state, 'utf8').replace('1.2.12', '9.9.9'),
  });
  const plan = await baseOf();
  expect(plan.codeBase).toBeNull();
  expect(plan.lines.filter(({ kind }) => kind === 'code')).toEqual([
    { kind: 'code', what: 'its code', text: expect.stringContaining('git remote add upstream') },
  ]);
});

test('a checkout as upstream has it says so, and a folder that is not a checkout says nothing', async () => {
  const upstream = makeUpstream();
  const source = makeNanoclaw();
  const plain = await new Installation().import(source, { isPlanOnly: true });
  expect(plain.plan.lines.filter(({ kind }) => kind === 'code')).toEqual([]);
  git(source.root, 'init', '--quiet', '--initial-branch=main');
  git(source.root, 'remote', 'add', 'upstream', upstream);
  git(source.root, 'fetch', '--quiet', 'upstream');
  git(source.root, 'checkout', '--quiet', '--force', '-B', 'main', 'upstream/main');
  const { plan } = await new Installation().import(source, { isPlanOnly: true });
  expect(plan.lines.filter(({ kind }) => kind === 'code')).toEqual([
    { kind: 'code', what: 'its code', text: 'as upstream has it' },
  ]);
});
