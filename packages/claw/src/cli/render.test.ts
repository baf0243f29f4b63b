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

test('nothing that is named or printed steers a terminal, whoever wrote it; what goes to a program stays as it is', async () => {
  const path = 'src/\u001b[2K\u001b[31m\u202egnp.ts';
  const broken = { path: 'src/two\nlines.ts', kind: 'add' as const };
  const common = { changes: [], conflicts: [], error: null } as const;
  const edits = [{ path, kind: 'add' as const }, broken];
  const warnings = [`${path} was left as it is.`];
  const data = { initialised: true, core: null, layers: [], edits, pending: null } as never;
  const result = { ...common, outcome: 'done', verb: 'status', data, warnings } as const;
  const onScreen = await renderText(result, { hasColours: true, columns: 80 });
  expect(onScreen.out).toContain('  + src/\\u001b[2K\\u001b[31m\\u202egnp.ts\n');
  expect(onScreen.out).toContain('  + src/two\\u000alines.ts\n');
  expect(onScreen.err).toBe('warning: src/\\u001b[2K\\u001b[31m\\u202egnp.ts was left as it is.\n');
  expect((await renderText(result)).out).toContain(path);
  const lines = [`\u001b[32mgood\u001b[0m ${path}`];
  const own = {
    ...common,
    outcome: 'done',
    verb: 'backup',
    warnings: [],
    data: {},
    lines,
  } as const;
  expect((await renderText(own, { hasColours: true, columns: 80 })).out).toBe(
    '\u001b[32mgood\u001b[0m src/\\u001b[2K\u001b[31m\\u202egnp.ts\n',
  );
  const patch = `--- a/x.ts\n+++ b/x.ts\n@@ -1 +1 @@\n-one\n+two // \u202e \u001b[8mgone\n`;
  const diff = {
    ...common,
    outcome: 'done',
    verb: 'diff',
    warnings: [],
    data: { files: [{ path: 'x.ts', patch }] },
  };
  const { out } = await renderText(diff as never, { hasColours: true, columns: 80 });
  expect(out).toContain('\u001b[32m+two // \\u202e \\u001b[8mgone\u001b[0m\n');
});
