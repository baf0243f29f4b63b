// Draws docs/session.svg: a session in a fresh clone, in a real terminal (tmux),
// with a real proof. Only the model is made up, so that its words are the same each time.
//
//   npm run session-picture
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type AnthropicRequest,
  lastUserText,
  startAnthropicServer,
} from '../src/testing/model/anthropic.ts';
import { cloneRepository } from '../test/story/clone.ts';
import { svgOf } from './session-picture/svg.ts';

const PICTURE = join(import.meta.dirname, '..', 'docs', 'session.svg');
const SIZE = { columns: 96, rows: 60 };
const PATIENCE_MS = 10 * 60_000;

const MORNING = 'When does my train leave tomorrow?';
const ANSWER =
  'At 7:42, platform 3. You told me on Monday to wake you an hour before: the task is set for 6:40.';
const PINNED = '/pin The plumber comes on Friday at nine';

const clone = cloneRepository();
const model = await startAnthropicServer((request) => [{ type: 'text', text: answerTo(request) }]);
const socket = `claw-picture-${process.pid}`;
try {
  const settings = { ANTHROPIC_API_KEY: 'sk-ant-picture', ANTHROPIC_BASE_URL: model.url };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  clone.write({ '.env': { text: lines.join(''), mode: 0o600 } });
  tmux(
    'new-session',
    '-d',
    '-x',
    `${SIZE.columns}`,
    '-y',
    `${SIZE.rows}`,
    '-c',
    clone.root,
    'npm start --silent',
  );
  await shown(/^> *$/m);
  await say(MORNING, /6:40/);
  await say('/add-pins', /Say yes or no\./);
  await say('yes', /pins \d.* is in/);
  await say(PINNED, /[Pp]inned/);
  await say('/undo', /Say yes or no\./);
  await say('yes', /The last change is undone/);
  const screen = tmux('capture-pane', '-p', '-e').trimEnd();
  writeFileSync(
    PICTURE,
    svgOf(
      screen.split('\n'),
      'npm start: a question, then a skill is added from the chat, used, and taken back',
    ),
  );
  console.log(PICTURE);
} finally {
  tmux('kill-server');
  await model.close();
  await clone[Symbol.asyncDispose]();
}

function answerTo(request: AnthropicRequest): string {
  return lastUserText(request).includes(MORNING) ? ANSWER : 'All right.';
}

/** Types a line, and waits until the answer is on the screen, below a new prompt. */
async function say(line: string, answer: RegExp): Promise<void> {
  tmux('send-keys', '-l', line);
  tmux('send-keys', 'Enter');
  await shown(answer);
}

async function shown(pattern: RegExp): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (true) {
    const screen = tmux('capture-pane', '-p');
    if (pattern.test(screen) && /^> *$/.test(screen.trimEnd().split('\n').at(-1) ?? '')) return;
    if (performance.now() > end)
      throw new Error(`The terminal never showed ${pattern}:\n${screen}`);
    await delay(200);
  }
}

function tmux(...args: readonly string[]): string {
  return execFileSync('tmux', ['-L', socket, ...args], { encoding: 'utf8' });
}
