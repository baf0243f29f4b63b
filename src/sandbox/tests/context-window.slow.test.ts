import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeWithEngine } from '../../testing/engine.ts';
import {
  type AnthropicReply,
  type AnthropicRequest,
  lastToolResults,
  lastUserText,
} from '../../testing/model/anthropic.ts';
import { startOpenAiServer } from '../../testing/model/openai.ts';
import { testModel } from '../../testing/model/test-model.ts';
import { type SandboxProject, sandboxProject } from '../../testing/sandbox-project.ts';

const SUMMARY = 'They counted numbers.';
const WINDOW = 20_000;

const isSummary = (request: AnthropicRequest): boolean =>
  JSON.stringify(request.body.system).includes('You keep the memory');
/** A token of English is four bytes or so. */
const sizeOf = ({ body }: AnthropicRequest): number => Math.ceil(JSON.stringify(body).length / 4);
const textsOf = ({ body }: AnthropicRequest): readonly string[] =>
  body.messages.map(({ content }) =>
    typeof content === 'string' ? content : content.map(({ text }) => String(text)).join(''),
  );
const long = (text: string): string => `${text}${' '.repeat(2_500)}.`;

type Server = {
  /** The model's reaction to a request for a summary. */
  readonly onSummary?: () => AnthropicReply;
  /** The number of tokens that the server really takes. */
  readonly limit?: number;
  /** False where the owner wants no summaries. */
  readonly summarize?: boolean;
};

function projectWith(
  modelContext: number | null,
  {
    onSummary = () => [{ type: 'text', text: SUMMARY }],
    limit = Infinity,
    summarize = true,
  }: Server = {},
): Promise<SandboxProject> {
  let rounds = 0;
  return sandboxProject({
    engine: 'bubblewrap',
    settings: { modelContext, summarize },
    script(request) {
      const inputTokens = sizeOf(request);
      if (inputTokens > limit) {
        const message = `prompt is too long: ${inputTokens} tokens > ${limit} maximum`;
        return { kind: 'error', status: 400, message };
      }
      if (isSummary(request)) return onSummary();
      const asked = lastUserText(request);
      const isBusy = asked.includes('work') || lastToolResults(request).length > 0;
      if (isBusy && rounds < 8) {
        rounds += 1;
        const command = 'echo x >> done; seq 1 3000';
        return counted([{ type: 'tool_use', name: 'shell', input: { command } }], inputTokens);
      }
      return counted([{ type: 'text', text: long(`re: ${asked.slice(0, 9)}`) }], inputTokens);
    },
  });
}

function counted(
  blocks: Extract<AnthropicReply, { kind: 'counted' }>['blocks'],
  inputTokens: number,
): AnthropicReply {
  return { kind: 'counted', blocks, inputTokens };
}

/** Says things until one of the requests satisfies `isOver`; at most twenty. */
async function talk(
  project: SandboxProject,
  session: string | null,
  isOver: (request: AnthropicRequest) => boolean,
): Promise<string> {
  let id = session;
  for (let count = 1; count <= 20; count += 1) {
    const outcome = await project.turn(long(`number ${count}`), { session: id });
    if (outcome.kind === 'failed') throw new Error(outcome.message);
    id = outcome.session;
    if (project.server.requests.some(isOver)) return id;
  }
  throw new Error('It never came to that.');
}

async function transcriptOf(project: SandboxProject): Promise<string> {
  const folder = join(project.dataDir, 'sessions/family/.claude/sessions');
  const [name = ''] = await readdir(folder);
  return await readFile(join(folder, name), 'utf8');
}

await describeWithEngine('bubblewrap', 'a conversation that fills the window of its model', () => {
  test('goes on with its newest messages alone where no summaries are wanted', async () => {
    await using project = await projectWith(WINDOW, { summarize: false });
    const isShort = (request: AnthropicRequest): boolean =>
      textsOf(request)[0]?.startsWith('The older part of our conversation is left out') === true;
    await talk(project, null, isShort);
    const { requests } = project.server;
    expect(requests.filter(isSummary)).toEqual([]);
    expect(requests.every((request) => sizeOf(request) < 0.8 * WINDOW)).toBe(true);
    expect(await transcriptOf(project)).toContain('number 1 ');
  });

  test('goes on with a summary and its newest messages, and its transcript stays whole', async () => {
    await using project = await projectWith(WINDOW);
    const session = await talk(project, null, isSummary);
    const { requests } = project.server;
    const [before, summary, after] = requests.slice(-3);
    if (before === undefined || summary === undefined || after === undefined) throw new Error();
    expect(isSummary(summary)).toBe(true);
    // Three quarters are the mark: what was there and the question are above it.
    expect(sizeOf(before)).toBeLessThan(0.75 * WINDOW);
    expect(sizeOf(after)).toBeLessThan(sizeOf(before));
    const told = lastUserText(summary);
    expect(told).toContain('User: number 1 ');
    expect(told).toContain('Assistant: re: number 1');
    const all = [...textsOf(before), long('re: number '), ...textsOf(after).slice(-1)];
    const [head = '', goOn = '', ...kept] = textsOf(after);
    expect(head).toContain(SUMMARY);
    expect(goOn).toContain('go on');
    expect(kept.length).toBeGreaterThanOrEqual(4);
    expect(kept.length).toBeLessThanOrEqual(5);
    expect(after.body.messages[2]?.role).toBe('user');
    expect(kept.at(0)).toBe(all.at(-kept.length));
    expect(kept.at(-1)).toBe(all.at(-1));
    // The call for the summary is paid for like any other.
    expect(project.charges).toHaveLength(requests.length);
    const transcript = await transcriptOf(project);
    for (const text of all.slice(0, 3)) expect(transcript).toContain(text);
    // Another container takes it up again, without a second summary.
    await project.sandbox.stop('family');
    await project.turn('and now?', { session });
    expect(requests.filter(isSummary)).toHaveLength(1);
    const resumed = requests.at(-1);
    expect(resumed === undefined ? [] : textsOf(resumed).slice(0, 2)).toEqual([head, goOn]);
    expect(resumed === undefined ? 0 : textsOf(resumed).length).toBe(kept.length + 4);
    // The next one stands on the first: nothing of it is lost.
    await talk(project, session, (request) => isSummary(request) && request !== summary);
    const second = requests.findLast(isSummary);
    expect(second === undefined ? '' : lastUserText(second)).toContain(SUMMARY);
    expect((await transcriptOf(project)).startsWith(transcript)).toBe(true);
  });

  test('is answered all the same when the summary fails, which the next turn asks for again', async () => {
    let failures = 0;
    await using project = await projectWith(WINDOW, {
      onSummary() {
        failures += 1;
        return failures > 1
          ? [{ type: 'text', text: SUMMARY }]
          : { kind: 'error', status: 401, message: 'not now' };
      },
    });
    await talk(project, null, (request) => textsOf(request)[0]?.includes(SUMMARY) === true);
    expect(failures).toBe(2);
  });

  test('is summarised in the middle of a turn, and no tool is called again', async () => {
    await using project = await projectWith(WINDOW);
    const outcome = await project.turn('work', {
      onReady: (send) => void send({ id: 'more', text: 'and do it well' }),
    });
    if (outcome.kind === 'failed') throw new Error(outcome.message);
    expect(outcome.text).toContain('re:');
    const { requests } = project.server;
    expect(requests.some(isSummary)).toBe(true);
    const calls = await readFile(join(project.dir, 'groups/family/done'), 'utf8');
    const asked = requests.filter((request) => !isSummary(request)).length - 1;
    expect(calls).toBe('x\n'.repeat(asked));
    const last = requests.at(-1);
    expect(last === undefined ? '' : textsOf(last)[0]).toContain(
      'You are answering this:\nUser: work\nUser: and do it well',
    );
    const transcript = await transcriptOf(project);
    expect(transcript.match(/"tool-call"/g)).toHaveLength(asked);
    expect(transcript.match(/and do it well/g)).toHaveLength(1);
    expect(transcript).not.toContain('"summary"');
    // The next turn finds all of it in the transcript, and summarises it for good.
    await project.turn('thank you', { session: outcome.session });
    const next = requests.at(-1);
    expect(next === undefined ? '' : textsOf(next)[0]).toContain(SUMMARY);
    expect((await transcriptOf(project)).match(/"kind":"summary"/g)).toHaveLength(1);
    expect((await transcriptOf(project)).startsWith(transcript)).toBe(true);
  });

  test('is summarised when the server refuses it, whatever was thought of its window', async () => {
    await using project = await projectWith(null, { limit: 14_000 });
    await talk(project, null, (request) => textsOf(request)[0]?.includes(SUMMARY) === true);
    await using busy = await projectWith(null, { limit: 14_000 });
    expect(await busy.answer('work')).toContain('re:');
    const calls = await readFile(join(busy.dir, 'groups/family/done'), 'utf8');
    expect((await transcriptOf(busy)).match(/"tool-call"/g)).toHaveLength(calls.length / 2);
  });

  test('that no summary can shorten fails with the words of the server', async () => {
    await using project = await projectWith(null, { limit: 100 });
    expect(await project.turn('hello')).toMatchObject({
      kind: 'failed',
      message: expect.stringContaining('prompt is too long'),
    });
  });

  test('is summarised with an OpenAI-compatible server as well', async () => {
    const server = await startOpenAiServer(({ body }) =>
      JSON.stringify(body.messages[0]).includes('You keep the memory') ? SUMMARY : 'I see.',
    );
    const model = testModel({
      provider: 'openai',
      name: 'm',
      baseUrl: `${server.url}/v1`,
      contextTokens: 100,
    });
    await using project = await sandboxProject({
      engine: 'bubblewrap',
      model,
    });
    let session: string | null = null;
    for (let count = 1; count <= 4; count += 1) {
      const outcome = await project.turn(`number ${count}${' '.repeat(200)}.`, { session });
      session = outcome.kind === 'answered' ? outcome.session : null;
    }
    const last = server.requests.at(-1)?.body.messages ?? [];
    expect(last.map(({ role }) => role).slice(0, 3)).toEqual(['system', 'user', 'assistant']);
    expect(JSON.stringify(last[1])).toContain(SUMMARY);
    expect(JSON.stringify(last)).not.toContain('number 1');
    expect(JSON.stringify(last)).toContain('number 4');
    await server.close();
  });
});
