import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { examination } from '../../../src/doctor/persona.ts';
import { readStarters, writeStarters } from '../../../src/setup/persona/starters.ts';
import { setup } from '../../../src/setup/persona.ts';

const PROJECT = resolve(import.meta.dirname, '../../..');
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'claw-persona-setup-'));
  const shared = 'container/shared/persona';
  cpSync(join(PROJECT, shared), join(dir, shared), { recursive: true });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));
const at = (path: string) => join(dir, 'groups', path);

const ALL = [
  'groups/global/SOUL.md',
  'groups/global/IDENTITY.md',
  'groups/global/AGENTS.md',
  'groups/global/TOOLS.md',
  'groups/main/USER.md',
  'groups/main/ENVIRONMENT.md',
];

test('starters are written once: what is private beside the owner’s chat, the rest for all', () => {
  expect(readStarters(dir)).toEqual([]);
  expect(writeStarters(dir, false)).toEqual({
    written: [...ALL, 'groups/main/BOOTSTRAP.md'],
    kept: [],
  });
  expect(statSync(at('.')).mode & 0o077).toBe(0);
  expect(writeStarters(dir, false)).toEqual({ written: [], kept: ALL });
  expect(readStarters(dir)).toEqual(ALL.map((path) => path.split('/').at(-1)));
});

test('what the owner has written is left as it is, and the introduction comes back only when asked for', () => {
  mkdirSync(at('global'), { recursive: true });
  writeFileSync(at('global/SOUL.md'), 'Mine.');
  symlinkSync('/no/such/file', at('global/TOOLS.md'));
  const first = writeStarters(dir, false);
  expect(first.kept).toEqual(['groups/global/SOUL.md', 'groups/global/TOOLS.md']);
  expect(first.written).not.toContain('groups/main/BOOTSTRAP.md');
  expect(readFileSync(at('global/SOUL.md'), 'utf8')).toBe('Mine.');
  expect(writeStarters(dir, true).written).toEqual(['groups/main/BOOTSTRAP.md']);
});

test('a word that the step does not know is refused before anything is written', async () => {
  const context = {
    dataDir: dir,
    args: ['--agian'],
    isInteractive: false,
    say() {},
    ask: async () => '',
    write() {},
    signal: new AbortController().signal,
  };
  await expect(setup.run({}, context)).rejects.toThrow('knows --again, and not --agian');
});

test('doctor names the files of each group, what is cut, and the introduction', async () => {
  const subject = {
    projectDir: dir,
    dataDir: dir,
    homeDir: dir,
    environment: {},
    settings: null,
    isOffline: true,
    now: Date.now,
  };
  expect(await examination.examine(subject)).toMatchObject([{ ok: true, message: 'no files yet' }]);
  writeStarters(dir, false);
  writeFileSync(at('global/SOUL.md'), 'x'.repeat(30_000));
  expect(await examination.examine(subject)).toEqual([
    {
      area: 'persona',
      ok: true,
      message: 'groups/global: SOUL.md, IDENTITY.md, AGENTS.md, TOOLS.md',
      advice: null,
    },
    {
      area: 'persona',
      ok: false,
      message: 'groups/global/SOUL.md has 30 KB, and the agent is shown 20',
      advice: 'Put what is needed less often into a file of its own, and name it there.',
    },
    {
      area: 'persona',
      ok: true,
      message: 'groups/main: USER.md, ENVIRONMENT.md',
      advice: 'BOOTSTRAP.md is there until the first conversation is done.',
    },
  ]);
});
