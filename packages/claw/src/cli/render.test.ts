import { expect, test } from 'vitest';
import { doctorLines } from '../verbs/doctor/doctor.ts';
import { renderText } from './render.ts';

const NARROW = { hasColours: false, columns: 40 };

test('a finding that is longer than the screen is broken between words, and stays in its column', () => {
  const finding = {
    area: 'providers',
    ok: true,
    message: 'none of openrouter, gemini, groq, deepseek is set up yet',
    advice: '`claw setup --provider <name>` sets one up.',
  };
  expect(doctorLines({ findings: [finding] }, NARROW)).toEqual([
    '! providers  none of openrouter, gemini,',
    '             groq, deepseek is set up',
    '             yet',
    '             `claw setup --provider',
    '             <name>` sets one up.',
    'Everything works; 1 suggestion above.',
  ]);
});

test('an error is broken between words on a screen, and lines of a verb of its own stay as they are', async () => {
  const summary = 'The agent may start sub-agents, at most 2 at once.\nmodel: set up';
  const error = { code: 'USAGE', message: 'Say which of these it shall be, and nothing else.' };
  const common = { outcome: 'done', changes: [], conflicts: [], warnings: [] } as const;
  const done = {
    ...common,
    verb: 'setup',
    data: { summary },
    lines: [summary],
    error: null,
  } as const;
  expect((await renderText(done)).out).toBe(`${summary}\n`);
  const failed = { ...common, verb: 'setup', data: null, error: error as never };
  expect((await renderText(failed, NARROW)).err).toBe(
    'USAGE: Say which of these it shall be,\nand nothing else.\n',
  );
});

test('status and list are broken between words on a screen, but for paths', async () => {
  const layers = ['agent-skills', 'guard', 'persona'].map((name) => ({
    kind: 'skill' as const,
    name,
    version: '1.0.3',
    changesNothing: false,
  }));
  const edits = [{ path: 'notes of mine/and a longer name of a file.md', kind: 'add' as const }];
  const common = {
    outcome: 'done',
    changes: [],
    conflicts: [],
    warnings: [],
    error: null,
  } as const;
  const data = { initialised: true, core: null, layers, edits, pending: null } as never;
  expect(
    (await renderText({ ...common, verb: 'status', data }, NARROW)).out.split('\n').slice(1, -1),
  ).toEqual([
    'skills  agent-skills 1.0.3, guard 1.0.3,',
    '        persona 1.0.3',
    'edits   1 not recorded; claw diff shows',
    '        it',
    '  + notes of mine/and a longer name of a file.md',
  ]);
  const listed = {
    name: 'web',
    version: '1.0.7',
    applied: false,
    description: 'Agents search the web',
  };
  expect((await renderText({ ...common, verb: 'list', data: [listed] as never }, NARROW)).out).toBe(
    'web 1.0.7  Agents search the web\n',
  );
  const long = { ...listed, description: 'Agents search the web and read its pages' };
  expect((await renderText({ ...common, verb: 'list', data: [long] as never }, NARROW)).out).toBe(
    'web 1.0.7  Agents search the web and\n    read its pages\n',
  );
});

test('undo says once what is taken back, not beside each file', async () => {
  const common = { outcome: 'done', conflicts: [], warnings: [], error: null } as const;
  const changes = [{ path: 'src/a.ts', kind: 'delete', cause: 'undo apply web notes' }] as const;
  const data = { undone: 'apply web notes' } as never;
  const result = { ...common, verb: 'undo', changes, data } as const;
  expect((await renderText(result)).out).toBe('Taken back: apply web notes.\n  - src/a.ts\n');
});
