import { randomUUID } from 'node:crypto';
import { globSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { ChannelContext } from '../../src/channels/channel.ts';
import type { ChannelSubject, FarEnd } from '../../src/testing/channel/far-end.ts';
import { startAnthropicServer } from '../../src/testing/model/anthropic.ts';
import { Assistant } from './assistant.ts';
import type { Clone } from './clone.ts';
import { echoOrShell } from './far-ends.ts';

/**
 * A process that is killed between the far end's answer and its own note of it says it once more: these services take
 * no key by which they would know a repeated message.
 */
const MAY_SAY_TWICE = ['telegram'];

type Line = {
  readonly name: string;
  readonly farEnd: FarEnd;
  readonly maySayTwice: boolean;
};

/**
 * Has somebody write on every channel of a clone to one assistant: the answer comes on that channel. Then they write
 * again, and the assistant is killed when the first answers are out: started again, it has lost nothing, and says
 * nothing twice.
 */
export async function allChannelsAnswer(clone: Clone): Promise<void> {
  const model = await startAnthropicServer(echoOrShell);
  await using _model = { [Symbol.asyncDispose]: () => model.close() };
  await using opened = await openLines(clone);
  const { lines, settings } = opened;
  const all = {
    ANTHROPIC_API_KEY: 'sk-ant-test',
    ANTHROPIC_BASE_URL: model.url,
    CLAW_SANDBOX: 'bubblewrap',
    ...settings,
  };
  const text = Object.entries(all).map(([name, value]) => `${name}=${value}\n`);
  clone.write({ '.env': { text: text.join(''), mode: 0o600 } });
  {
    await using assistant = await Assistant.start(clone);
    await connected(assistant, lines);
    await sayOnAll(lines, 'first');
    await assistant.until(() => lines.every((line) => answers(line, 'first') === 1));
    await sayOnAll(lines, 'second');
    await assistant.until(() => lines.some((line) => answers(line, 'second') === 1));
    await assistant.kill();
  }
  await using assistant = await Assistant.start(clone);
  await assistant.until(() => lines.every((line) => answers(line, 'second') > 0));
  await sayOnAll(lines, 'third');
  await assistant.until(() => lines.every((line) => answers(line, 'third') > 0));
  for (const line of lines) {
    const counts = ['first', 'second', 'third'].map((word) => answers(line, word));
    const isOnce = counts.every((count) => count === 1);
    const isKnown = line.maySayTwice && counts[1] === 2;
    expect(isOnce || isKnown, `${line.name}: ${counts}`).toBe(true);
  }
  expect(await assistant.end()).toBe(0);
}

/** Starts the far ends that the skills' own tests of the channels' rules use. */
async function openLines(clone: Clone) {
  const subjects: ChannelSubject[] = [];
  let last: Readonly<Record<string, string>> = {};
  using _ = replaceModules({
    [clone.path('src/testing/channel/conformance.ts')]: {
      testChannel: (subject: ChannelSubject) => void subjects.push(subject),
    },
    // What the channel would be made of is what the assistant is to read in `.env`.
    [clone.path('src/testing/channel/bench.ts')]: {
      channelFrom(_: unknown, settings: Readonly<Record<string, string>>) {
        last = settings;
        return null;
      },
    },
  });
  const paths = globSync('skills/*/tests/conformance.test.ts', { cwd: clone.root });
  for (const path of paths) await import(join(clone.root, path));
  expect(subjects.map(({ name }) => `skills/${name}/tests/conformance.test.ts`)).toEqual(paths);
  const lines: Line[] = [];
  const settings: Record<string, string> = {};
  for (const { name, lacks, start } of subjects) {
    const farEnd = await start(clone.path('data'));
    farEnd.create({} as ChannelContext, 'as set up');
    Object.assign(settings, last);
    const maySayTwice = MAY_SAY_TWICE.includes(name) || lacks['lost answer'] !== undefined;
    lines.push({ name, farEnd, maySayTwice });
  }
  return {
    lines,
    settings,
    async [Symbol.asyncDispose]() {
      for (const { farEnd } of lines) await farEnd[Symbol.asyncDispose]();
    },
  };
}

/** Has Node read these functions in place of modules, by their paths, until it is disposed of. */
function replaceModules(modules: Readonly<Record<string, object>>): Disposable {
  const id = `modules-${randomUUID()}`;
  Object.assign(globalThis, { [id]: modules });
  const hooks = registerHooks({
    load(url, context, next) {
      const path = url.startsWith('file:') ? fileURLToPath(url) : url;
      const names = Object.keys(modules[path] ?? {});
      if (names.length === 0) return next(url, context);
      const from = `globalThis[${JSON.stringify(id)}][${JSON.stringify(path)}]`;
      const source = `export const { ${names.join(', ')} } = ${from};`;
      return { format: 'module', source, shortCircuit: true };
    },
  });
  return { [Symbol.dispose]: () => hooks.deregister() };
}

async function connected(assistant: Assistant, lines: readonly Line[]): Promise<void> {
  const isUp = (status: string) =>
    lines.every(({ name }) => status.includes(`channel ${name}: connected`));
  let status = '';
  for (let tries = 0; tries < 50 && !isUp(status); tries += 1) {
    status = await assistant.ask('/status');
  }
  expect(
    lines.filter(({ name }) => !status.includes(`channel ${name}: connected`)),
    status,
  ).toEqual([]);
}

async function sayOnAll(lines: readonly Line[], word: string): Promise<void> {
  for (const { name, farEnd } of lines)
    await farEnd.sendText('friend', 'direct', `${word} ${name}`);
}

function answers({ name, farEnd }: Line, word: string): number {
  const heard = new RegExp(`Heard: .*${word} ${name}`, 's');
  return farEnd.sent().filter(({ text }) => heard.test(text)).length;
}
