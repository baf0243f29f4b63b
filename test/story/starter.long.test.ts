import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithEngine } from '../../src/testing/engine.ts';
import {
  listOf,
  type OpenAiCalls,
  type OpenAiRequest,
  type OpenAiServer,
  startOpenAiServer,
} from '../../src/testing/model/openai.ts';
import { jpegOf } from '../../src/testing/pictures.ts';
import { Assistant } from './assistant.ts';
import { endAtFirstFailure } from './chapters.ts';
import { type Clone, cloneRepository, type Snapshot } from './clone.ts';
import { ADA, directChat, startTelegram, type TelegramServer } from './far-ends.ts';

const SKILLS = 'telegram providers web guard agent-skills model-pools semantic-memory';
const OWNER = { id: 1002, first_name: 'Olga' };
const ABILITY = '/workspace/shared/agent-skills/research/SKILL.md';
const COMMAND =
  "mkdir old && echo 'Turtles eat lettuce.' > food.txt && rm -r old && echo all is tidy";

/** One call after the other, and then words. */
const WORK: readonly OpenAiCalls['calls'][number][] = [
  { name: 'web_search', input: { query: 'what turtles eat' } },
  { name: 'read_file', input: { path: ABILITY } },
  { name: 'shell', input: { command: COMMAND } },
  { name: 'send_file', input: { path: '/workspace/group/food.txt', caption: 'The list' } },
];

/** The words of the person who spoke last. */
function askedIn({ body: { messages } }: OpenAiRequest): string {
  return JSON.stringify(messages.findLast(({ role }) => role === 'user'));
}

const offeredIn = ({ body }: OpenAiRequest): string => JSON.stringify(body['tools']);
const toldIn = ({ body: { messages } }: OpenAiRequest): string => JSON.stringify(messages);

/** Results of tools since the person last spoke. */
function resultsIn({ body: { messages } }: OpenAiRequest): readonly string[] {
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  return messages
    .slice(asked + 1)
    .flatMap(({ role, ['content']: content }) =>
      role === 'tool' ? [typeof content === 'string' ? content : JSON.stringify(content)] : [],
    );
}

/** The work of a turn in which four skills meet. */
const TOGETHER = [
  { name: 'web_search', input: { query: 'how long turtles sleep' } },
  { name: 'shell', input: { command: 'mkdir old && rm -r old && echo the box is clean' } },
];
const KEPT = 'Oskar the turtle sleeps in the cellar, in a box of leaves.';
const SHOWN = 'What is this, and what does it eat?';
const ASKED = 'Where does Oskar the turtle sleep? Clean his box.';

function work(request: OpenAiRequest): string | OpenAiCalls {
  if (askedIn(request).includes(ASKED)) {
    const next = TOGETHER[resultsIn(request).length];
    return next === undefined ? 'In the cellar. The box is clean.' : { calls: [next] };
  }
  if (!askedIn(request).includes(SHOWN)) return 'Hello.';
  const next = WORK[resultsIn(request).length];
  return next === undefined ? 'It is a turtle; it eats lettuce.' : { calls: [next] };
}

/** A SearXNG server of the owner's, with one page about everything. */
async function startSearch() {
  const asked: (string | null)[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    asked.push(pathname === '/search' ? searchParams.get('q') : null);
    const page = { url: 'https://turtles.example/', title: 'Turtles', content: 'They eat lettuce' };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ results: [page], unresponsive_engines: [] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, asked, close: () => void server.close() };
}

await describeWithEngine('docker', 'the agent that people expect, from one line', () => {
  endAtFirstFailure();
  let model: OpenAiServer;
  let full: OpenAiServer;
  let search: Awaited<ReturnType<typeof startSearch>>;
  let telegram: TelegramServer;
  let clone: Clone;
  let assistant: Assistant;
  let before: Snapshot;

  beforeAll(async () => {
    model = await startOpenAiServer(work, listOf('gemma3:4b'));
    full = await startOpenAiServer(() => ({ status: 503, message: 'overloaded' }));
    search = await startSearch();
    const { server, settings } = await startTelegram();
    telegram = server;
    clone = cloneRepository({
      CLAW_SANDBOX: 'docker',
      MODEL_POOLS: 'all=openai/large, ollama/gemma3:4b',
      OLLAMA_BASE_URL: `${model.url}/v1`,
      OPENAI_API_KEY: 'o',
      OPENAI_BASE_URL: `${full.url}/v1`,
      SEARXNG_URL: search.url,
      TELEGRAM_OWNER: String(OWNER.id),
      ...settings,
    });
    clone.write({ 'groups/global/pets.md': `${KEPT}\n\nThe cat is called Minka.\n` });
    before = clone.code();
    assistant = await Assistant.start(clone);
  });

  afterAll(async () => {
    await assistant?.stop();
    await clone?.[Symbol.asyncDispose]();
    await telegram?.[Symbol.asyncDispose]();
    search?.close();
    await Promise.all([model?.close(), full?.close()]);
  });

  /** Texts that the bot sent to that person. */
  const toldTo = ({ id }: typeof OWNER) =>
    telegram.sent.filter(({ chatId }) => chatId === id).map(({ text }) => text);
  const questions = () => telegram.sent.filter(({ buttons }) => buttons.length > 0);

  /** The owner, on the phone, presses the yes of the question that was asked last. */
  function sayYes(): void {
    const question = questions().at(-1);
    if (question === undefined) throw new Error('nobody was asked');
    const yes = question.buttons.find(({ text }) => /^yes/i.test(text))?.text ?? '';
    telegram.press(OWNER, question, yes);
  }

  function lastAsked(): OpenAiRequest {
    const last = model.requests.at(-1);
    if (last === undefined) throw new Error('the model was not asked');
    return last;
  }

  test('seven skills are added by one line and a yes, and the assistant comes back with them', async () => {
    const plan = await assistant.ask(`/add-${SKILLS}`);
    expect(plan).toMatch(/- files: .*\d+ new/);
    expect(plan).toContain('Add them? Say yes or no.');
    const from = assistant.stdout.length;
    assistant.say('yes');
    await assistant.until(() => assistant.stdout.slice(from).includes('Publish'));
    const told = await assistant.untilPrompt(from);
    expect(told).toContain('Channel telegram: connected.');
    const [inside] = (await assistant.ask('/skills')).split('To add:');
    for (const skill of SKILLS.split(' ')) expect(inside).toMatch(new RegExp(`- ${skill} \\d`));
  });

  test('the owner, on the phone, gives Ada’s chat a model of their own server', async () => {
    telegram.sendText(ADA, directChat(ADA), 'hello');
    await telegram.until(() => toldTo(ADA).length > 0, 300_000);
    telegram.sendText(OWNER, directChat(OWNER), '/model ollama/gemma3:4b for Ada');
    await telegram.until(() => toldTo(OWNER).some((text) => text.includes('gemma3')), 300_000);
  });

  test('Ada’s picture is seen, the web searched, an ability read, a command approved by a button, a file sent', async () => {
    const picture = jpegOf({ width: 64, height: 48 });
    telegram.sendPhoto(ADA, directChat(ADA), picture, SHOWN);
    await telegram.until(() => questions().length > 0, 300_000);
    const [question] = questions();
    if (question === undefined) throw new Error('nobody was asked');
    expect(question.chatId).toBe(OWNER.id);
    expect(question.text).toContain('The agent of Ada wants to call shell.');
    expect(question.text).toContain('rm -r old');
    // The command waits for the answer, and with it all that comes after it.
    expect(Math.max(...model.requests.map((request) => resultsIn(request).length))).toBe(2);
    sayYes();
    await telegram.until(() => toldTo(ADA).includes('It is a turtle; it eats lettuce.'), 300_000);

    expect(search.asked).toEqual(['what turtles eat']);
    const last = lastAsked();
    const [found, ability, printed] = resultsIn(last);
    expect(found).toContain('https://turtles.example/');
    expect(ability).toContain('name: research');
    expect(printed).toContain('all is tidy');
    expect(last.body.model).toBe('gemma3:4b');
    const pictures = [
      ...JSON.stringify(last.body.messages).matchAll(/"data:image\/jpeg;base64,([\w+/=]+)"/g),
    ];
    expect(pictures.map(([, data = '']) => Buffer.from(data, 'base64'))).toEqual([picture]);
    const sent = telegram.sent.find(({ file }) => file !== undefined);
    expect(sent).toMatchObject({
      chatId: ADA.id,
      file: { name: 'food.txt', text: 'Turtles eat lettuce.\n' },
    });
    expect(await assistant.ask('/audit asked')).toContain('you allowed it');
  });

  test('in one turn a pool falls through, what was noted is recalled, the web is searched and the guard asks', async () => {
    const from = assistant.stdout.length;
    assistant.say(ASKED);
    await assistant.until(() => assistant.stdout.slice(from).includes('rm -r old'));
    expect(assistant.stdout.slice(from)).toContain('wants to call `shell`');
    assistant.say('yes');
    await assistant.until(() => assistant.stdout.slice(from).includes('The box is clean.'));
    expect(full.requests.map(askedIn).join()).toContain(ASKED);
    const last = lastAsked();
    expect(last.body.model).toBe('gemma3:4b');
    expect(toldIn(last)).toContain(`[global/pets.md:1] ${KEPT}`);
    expect(toldIn(last)).not.toContain('Minka');
    const [found, printed] = resultsIn(last);
    expect(found).toContain('https://turtles.example/');
    expect(printed).toContain('the box is clean');
  });

  test('in a chat where the web is switched off the other three go on', async () => {
    await assistant.askFor('/tools off web_* for Ada', 'are off in Ada');
    const [searched, passed] = [search.asked.length, full.requests.length];
    const from = assistant.stdout.length;
    telegram.sendText(ADA, directChat(ADA), ASKED);
    // The owner has written here last.
    await assistant.until(() => assistant.stdout.slice(from).includes('The agent of Ada wants'));
    await assistant.untilPrompt(from);
    assistant.say('yes');
    await telegram.until(() => toldTo(ADA).includes('In the cellar. The box is clean.'), 300_000);
    const last = lastAsked();
    expect(offeredIn(last)).not.toContain('web_');
    expect(offeredIn(last)).toContain('shell');
    expect(toldIn(last)).toContain(KEPT);
    expect(resultsIn(last)[0]).toContain("unavailable tool 'web_search'");
    expect(search.asked).toHaveLength(searched);
    // The model that the owner has chosen for this chat answers before its pool.
    expect(full.requests).toHaveLength(passed);
    const here = await assistant.askFor('/tools', '`web_search`');
    expect(here).not.toContain('`web_search`: off');
  });

  test('without the skills the code is as before, and git sees nothing but .claw', async () => {
    const removed = await assistant.askFor(`/remove-${SKILLS}`, 'files changed.');
    expect(removed).toMatch(/out: \d+ files changed\./);
    expect(clone.code()).toEqual(before);
    expect(clone.git('diff', 'HEAD')).toBe('');
    const untracked = clone.git('ls-files', '--others', '--exclude-standard').trim().split('\n');
    expect(untracked.filter((path) => !path.startsWith('.claw/'))).toEqual([]);
    expect(await assistant.end()).toBe(0);
  });
});
