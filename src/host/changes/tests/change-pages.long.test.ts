import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { type TestAssistant, TestProject, textsOf } from '../../../testing/assistant.ts';
import { CODE, cloneOfReleases, manifest, release } from '../../../testing/claw/releases.ts';
import { skills, startModel, write } from '../../../testing/owner/owner-chat.ts';

const DOCS = join(import.meta.dirname, '../../../../docs');

/** `UPDATE_DOCS=1` writes what is really said into the pages. */
const isUpdating = process.env['UPDATE_DOCS'] === '1';

/** Holds the conversation under “From the chat” of a page, and compares what is said with the page. */
async function holds(
  page: string,
  project: TestProject,
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  const path = join(DOCS, page);
  const text = readFileSync(path, 'utf8');
  const [, body = ''] = /^## From the chat\n\n````chat\n(.*?)^````$/ms.exec(text) ?? [];
  const lines = body.split('\n').filter((line) => line.startsWith('> '));
  expect(lines.length).toBeGreaterThan(1);
  let assistant = await project.start({ environment });
  let shown = '';
  for (const line of lines) {
    const said = await answerTo(project, assistant, line.slice(2));
    shown += [line, ...said, ''].join('\n');
    if (project.restarts === 0) continue;
    project.restarts = 0;
    await assistant.stop();
    assistant = await project.start({ environment });
    await vi.waitFor(() => expect(assistant.terminal.acknowledged).not.toEqual([]));
    shown += [...textsOf(assistant.terminal), ''].join('\n');
  }
  await assistant.stop();
  if (isUpdating)
    writeFileSync(
      path,
      text.replace(body, () => shown),
    );
  else expect(shown).toBe(body);
}

async function answerTo(
  project: TestProject,
  { terminal, store }: TestAssistant,
  line: string,
): Promise<readonly string[]> {
  const before = terminal.sent.length;
  await terminal.say(line);
  await vi.waitFor(() => {
    // A command that has asked for the restart waits for the next process.
    const { queued, running } = store.turns.counts();
    expect(project.restarts > 0 || queued + running === 0).toBe(true);
    expect(store.outbox.hasUnsent('terminal:main')).toBe(false);
  });
  return textsOf(terminal).slice(before);
}

test('the conversation on the page about updating goes as it says', async () => {
  const { project, remote } = cloneOfReleases();
  using _ = project;
  using __ = remote;
  release(remote, 'v2.0.0', {
    'package.json': manifest('2.0.0'),
    'src/a.ts': CODE.replace('three = 3', 'three = 33'),
  });
  await holds('updating.md', project, { ANTHROPIC_API_KEY: '' });
});

const APP = "import { greeting } from './greeting.mjs';\n\nconsole.log(greeting('world'));\n";
const LOUD = APP.replace("greeting('world')", "greeting('world').toUpperCase()");
const POLITE = APP.replace("greeting('world')", "greeting('world'), 'How are you?'");
const POLITE_TEST = `import test from 'node:test';
import { readFileSync } from 'node:fs';
test('asks', () => {
  if (!readFileSync('app.mjs', 'utf8').includes('How are you?')) throw new Error('not polite');
});
`;

test('the conversation on the page about resolving goes as it says', async () => {
  await using model = await startModel(() => ({
    hunks: ["console.log(greeting('world').toUpperCase(), 'How are you?');\n"],
  }));
  using project = new TestProject({
    'package.json': manifest('1.0.0'),
    'claw.config.yaml': 'check: []\nexclude: [data/**]\n',
    'app.mjs': LOUD,
    'greeting.mjs': 'export const greeting = (name) => "Hello, " + name + ".";\n',
    ...skills({
      polite: { modify: { 'app.mjs': [APP, POLITE] }, tests: { 'a.test.mjs': POLITE_TEST } },
    }),
  });
  write(project, {
    'skills/polite/modify/app.mjs.intent.md': '**Must keep:** the question comes last.\n',
  });
  await holds('resolving.md', project, model.environment);
});
