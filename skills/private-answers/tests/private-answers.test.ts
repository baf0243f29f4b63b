import { expect, test, vi } from 'vitest';
import { examination } from '../../../src/doctor/private-answers.ts';
import { asksInPrivate } from '../../../src/host/inbound-path/private-answers.ts';
import {
  type AgentScript,
  answers,
  type TestAssistant,
  TestProject,
} from '../../../src/testing/assistant.ts';
import { commands, FAMILY, isIdle, startWithFamily } from '../../../src/testing/turn/tasks.ts';

const BEN = 'chat:ben';
const inFamily = { jid: FAMILY, isDirect: false };
const GOES_PRIVATE = 'I answer this in private.';

const echo: AgentScript = async ({ prompt }) =>
  answers(`on ${[...prompt.matchAll(/@Andy ([^\n<]*)/g)].map(([, asked]) => asked).join(' + ')}`);

/** Starts an assistant with a group, and a direct chat of Ben's in which he has written. */
async function startWithBen(project: TestProject, agent: AgentScript = echo) {
  const assistant = await startWithFamily(project, agent);
  await haveDirectChat(assistant, 'ben');
  return assistant;
}

async function haveDirectChat(assistant: TestAssistant, sender: string): Promise<void> {
  const { store, chat } = assistant;
  const jid = `chat:${sender}`;
  store.chats.see({ jid, channel: 'chat', name: sender, isDirect: true }, 1);
  const group = { jid, folder: sender, name: sender, triggerWord: null, needsTrigger: false };
  store.groups.register({ ...group, isMain: false }, 1);
  await chat.say('@Andy hi', { jid, sender, senderName: sender });
  await isIdle(assistant);
  chat.sent.length = 0;
}

const ask = ({ chat }: TestAssistant, words: string, sender = 'ben', isOwner = false) =>
  chat.say(`@Andy ${words}`, { ...inFamily, sender, senderName: sender, isOwner });

/** What was said in a chat, without what else it holds. */
const saidIn = ({ chat }: TestAssistant, jid: string) =>
  chat.sent.filter((message) => message.jid === jid).map(({ text }) => text);

test.each([
  ['/private where is the key?', true],
  ['where is the key? /private', true],
  ['Answer me in private: where is the key?', true],
  ['can you tell me privately what it costs', true],
  ['reply by DM', true],
  ['where is it? In private, please.', true],
  ['Antworte mir bitte privat', true],
  ['is this a private party?', false],
  ['see src/private.ts', false],
  ['who has /privateer?', false],
  ['he works in private equity', false],
])('whether a question asks for it: %s', (words, isAsked) => {
  expect(asksInPrivate(words)).toBe(isAsked);
});

test('the answer goes to the asker’s own chat, and one line in the group says so', async () => {
  using project = new TestProject();
  const assistant = await startWithBen(project);
  await ask(assistant, 'answer me in private: the code?');
  await isIdle(assistant);
  expect(saidIn(assistant, FAMILY)).toEqual([GOES_PRIVATE]);
  expect(saidIn(assistant, BEN)).toEqual([
    'In private, from Family:\n\non answer me in private: the code?',
  ]);
  await ask(assistant, 'and the door?');
  await isIdle(assistant);
  expect(saidIn(assistant, FAMILY).at(-1)).toBe('on and the door?');
  await assistant.stop();
});

test('it runs with the rights, the folder and the tools of the group, never with those of the other chat', async () => {
  using project = new TestProject();
  const seen: unknown[] = [];
  const agent: AgentScript = async ({ folder, isMain }, { onTool }) => {
    const input = { text: 'on the way', group: 'ben' };
    const elsewhere = await onTool({ folder, name: 'send_message', input });
    const here = await onTool({ folder, name: 'send_message', input: { text: 'wait' } });
    seen.push({ folder, isMain, elsewhere: elsewhere.ok, here: here.ok });
    return answers('done');
  };
  const assistant = await startWithBen(project, agent);
  seen.length = 0;
  await ask(assistant, '/private hello');
  await isIdle(assistant);
  expect(seen).toEqual([{ folder: 'family', isMain: false, elsewhere: false, here: true }]);
  expect(saidIn(assistant, FAMILY)).toEqual([GOES_PRIVATE]);
  expect(saidIn(assistant, BEN)).toEqual([
    'In private, from Family:\n\nwait',
    'In private, from Family:\n\ndone',
  ]);
  await assistant.stop();
});

test('where there is no chat of theirs, nothing is answered, and the group is told why', async () => {
  using project = new TestProject();
  const prompts: string[] = [];
  const agent: AgentScript = async ({ prompt }) => {
    prompts.push(prompt);
    return answers('secret');
  };
  const assistant = await startWithBen(project, agent);
  const { store, chat } = assistant;
  prompts.length = 0;
  const refused = async (sender: string) => {
    chat.sent.length = 0;
    await ask(assistant, '/private tell', sender);
    await isIdle(assistant);
    expect(chat.sent.map(({ jid, text }) => ({ jid, text }))).toEqual([
      { jid: FAMILY, text: expect.stringContaining('I cannot answer this in private') },
    ]);
    expect(prompts).toEqual([]);
  };
  await refused('carla');
  // Somebody else's word in it: it is not Ben's alone.
  await chat.say('psst', { jid: BEN, sender: 'carla' });
  await isIdle(assistant);
  prompts.length = 0;
  await refused('ben');
  store.groups.unregister(BEN);
  await refused('ben');
  await assistant.stop();
});

test('each private question is a turn of its own: nobody else’s is answered with it, and it with nobody’s', async () => {
  using project = new TestProject();
  const gate = Promise.withResolvers<void>();
  const offered: string[] = [];
  const agent: AgentScript = async (request, events) => {
    if (!request.prompt.includes('first')) return await echo(request, events);
    events.onReady?.(({ text }) => {
      offered.push(text);
      return true;
    });
    await gate.promise;
    return answers('on first');
  };
  const assistant = await startWithBen(project, agent);
  await ask(assistant, 'first', 'carla');
  await vi.waitFor(() => expect(assistant.store.turns.counts().running).toBe(1));
  await ask(assistant, '/private mine');
  await ask(assistant, 'hers', 'carla');
  gate.resolve();
  await isIdle(assistant);
  expect(offered).toEqual([]);
  expect(saidIn(assistant, FAMILY)).toEqual([GOES_PRIVATE, 'on first', 'on hers']);
  expect(saidIn(assistant, BEN)).toEqual(['In private, from Family:\n\non /private mine']);
  await assistant.stop();
});

test('a private question that failed is not asked again with the next of the group', async () => {
  using project = new TestProject();
  const agent: AgentScript = async (request, events) =>
    request.prompt.includes('mine') && !request.prompt.includes('hers')
      ? { kind: 'failed', code: 'MODEL_FAILED', message: 'The model is gone.' }
      : await echo(request, events);
  const assistant = await startWithBen(project, agent);
  await ask(assistant, '/private mine');
  await isIdle(assistant);
  expect(saidIn(assistant, BEN)).toEqual([
    expect.stringMatching(/^In private, from Family:\n\nI could not answer this/),
  ]);
  await ask(assistant, 'hers', 'carla');
  await isIdle(assistant);
  expect(saidIn(assistant, FAMILY)).toEqual([GOES_PRIVATE, 'on hers']);
  await assistant.stop();
});

test('a question of the group that failed is not answered with a private one', async () => {
  using project = new TestProject();
  const agent: AgentScript = async (request, events) =>
    request.prompt.includes('mine')
      ? await echo(request, events)
      : { kind: 'failed', code: 'MODEL_FAILED', message: 'The model is gone.' };
  const assistant = await startWithBen(project, agent);
  await ask(assistant, 'hers', 'carla');
  await isIdle(assistant);
  await assistant.chat.say('a word in between', { ...inFamily, sender: 'carla' });
  await ask(assistant, '/private mine');
  await isIdle(assistant);
  expect(saidIn(assistant, BEN)).toEqual(['In private, from Family:\n\non /private mine']);
  await assistant.stop();
});

test('it is not shown in the group while it is written, and stays private after a restart', async () => {
  using project = new TestProject();
  let mayEnd = false;
  const agent: AgentScript = async (request, { onText }) => {
    if (!request.prompt.includes('mine')) return answers('ok');
    onText?.('half a secret');
    if (!mayEnd) await new Promise(() => {});
    return answers('a secret');
  };
  let assistant = await startWithBen(project, agent);
  assistant.chat.capabilities = { drafts: { everyMs: 10 } };
  await ask(assistant, '/private mine');
  await vi.waitFor(() => expect(assistant.store.turns.counts().running).toBe(1));
  assistant.clock.pass(60_000);
  await vi.waitFor(() => expect(saidIn(assistant, FAMILY)).toEqual([GOES_PRIVATE]));
  expect(assistant.chat.drafts).toEqual([]);
  await assistant.stop(0);

  mayEnd = true;
  assistant = await startWithFamily(project, agent);
  await isIdle(assistant);
  expect(saidIn(assistant, FAMILY)).toEqual([]);
  expect(saidIn(assistant, BEN).at(-1)).toBe('In private, from Family:\n\na secret');
  await assistant.stop();
});

test('where the chat is taken out before the answer comes, nobody gets it', async () => {
  using project = new TestProject();
  const gate = Promise.withResolvers<void>();
  const agent: AgentScript = async ({ prompt }) => {
    if (prompt.includes('mine')) await gate.promise;
    return answers('a secret');
  };
  const assistant = await startWithBen(project, agent);
  await ask(assistant, '/private mine');
  await vi.waitFor(() => expect(assistant.store.turns.counts().running).toBe(1));
  assistant.store.groups.unregister(BEN);
  gate.resolve();
  await isIdle(assistant);
  expect(saidIn(assistant, FAMILY)).toEqual([
    GOES_PRIVATE,
    'The chat for the private answer is gone. Ask again.',
  ]);
  expect(JSON.stringify(assistant.chat.sent)).not.toContain('a secret');
  await assistant.stop();
});

test('an answer follows a chat that has got another address meanwhile', async () => {
  using project = new TestProject();
  const gate = Promise.withResolvers<void>();
  const agent: AgentScript = async ({ prompt }) => {
    if (prompt.includes('mine')) await gate.promise;
    return answers('a secret');
  };
  const assistant = await startWithBen(project, agent);
  await ask(assistant, '/private mine');
  await vi.waitFor(() => expect(assistant.store.turns.counts().running).toBe(1));
  assistant.store.mergeChats(BEN, 'chat:ben-by-number');
  gate.resolve();
  await isIdle(assistant);
  expect(saidIn(assistant, FAMILY)).toEqual([GOES_PRIVATE]);
  expect(saidIn(assistant, 'chat:ben-by-number')).toEqual(['In private, from Family:\n\na secret']);
  await assistant.stop();
});

test('the owner has a group answer in private by a rule, from either chat; others cannot', async () => {
  using project = new TestProject();
  const assistant = await startWithBen(project);
  expect(await commands(assistant, '/private on')).toContain('Say `/private on` in a group');
  expect(await commands(assistant, '/private family on')).toContain(
    'everybody in Family in private',
  );
  await ask(assistant, 'the code?');
  await isIdle(assistant);
  expect(saidIn(assistant, FAMILY)).toEqual([GOES_PRIVATE]);
  expect(saidIn(assistant, BEN)).toEqual(['In private, from Family:\n\non the code?']);
  expect(await commands(assistant, '/private')).toContain('Every answer is private in Family.');
  // The owner's own chat is on another channel here: it is theirs all the same.
  await ask(assistant, 'mine?', 'ada', true);
  await isIdle(assistant);
  expect(assistant.terminal.sent.at(-1)?.text).toBe('In private, from Family:\n\non mine?');
  await assistant.chat.say('/private off', { ...inFamily, sender: 'ben' });
  await isIdle(assistant);
  expect(await commands(assistant, '/private')).toContain('Every answer is private in Family.');
  await assistant.chat.say('/private off', { ...inFamily, sender: 'ada', isOwner: true });
  await isIdle(assistant);
  expect(saidIn(assistant, FAMILY).at(-1)).toContain('From now on I answer in Family itself');
  await ask(assistant, 'again?');
  await isIdle(assistant);
  expect(saidIn(assistant, FAMILY).at(-1)).toBe('on again?');
  await assistant.stop();
});

test('the group is told that the question is done once the private answer is delivered', async () => {
  using project = new TestProject();
  const assistant = await startWithBen(project);
  const answered = vi.fn();
  Object.assign(assistant.chat, { answered });
  await ask(assistant, '/private mine');
  await isIdle(assistant);
  await vi.waitFor(() =>
    expect(answered).toHaveBeenCalledWith(FAMILY, [expect.any(String)], 'answered'),
  );
  await assistant.stop();
});

test('the doctor counts those who can be answered in private', async () => {
  using project = new TestProject();
  const assistant = await startWithBen(project);
  const dataDir = `${project.dir}/data`;
  expect(await examination.examine({ dataDir } as never)).toEqual([
    expect.objectContaining({ ok: true, message: '1 person has a chat of their own' }),
  ]);
  await assistant.stop();
});
