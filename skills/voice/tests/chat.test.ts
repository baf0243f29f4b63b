import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { type AgentScript, answers, TestProject, textsOf } from '../../../src/testing/assistant.ts';
import { context } from '../../../src/testing/turn/filters.ts';
import { clip, isSpokenIn, KEY, section, startVoiceServer } from './fixtures.ts';

const ADA = { jid: 'chat:ada', isDirect: true } as const;
const NOTE = {
  kind: 'voice',
  mimeType: 'audio/ogg',
  sizeBytes: 3_975,
  name: null,
  seconds: 2,
} as const;

test('words of a voice note reach the agent with the note; what cannot be heard is told, and nothing is lost', async () => {
  await using server = await startVoiceServer();
  using project = new TestProject();
  const prompts: string[] = [];
  const agent: AgentScript = async ({ prompt }) => {
    prompts.push(prompt);
    return answers('pong');
  };
  const environment = { VOICE_URL: server.url, VOICE_KEY: KEY };
  const assistant = await project.start({ agent, environment });
  const { chat, store, terminal } = assistant;
  chat.fetchAttachment = async () => {
    const path = join(project.dir, 'data/note.ogg');
    writeFileSync(path, clip());
    return { path, mimeType: 'audio/ogg', sizeBytes: clip().length, name: null };
  };
  await chat.say('', { ...ADA, id: 'n1', attachments: [NOTE] });
  await vi.waitFor(() => expect(textsOf(chat)).toEqual(['pong']));
  expect(prompts[0]).toMatch(
    /Ada: what is the weather like\n\s*\[voice, 2 s, 4 kB, id n1\]\n\s*\[voice: spoken in a voice note: /,
  );
  server.faults.push({ status: 401 });
  await chat.say('', { ...ADA, id: 'n2', attachments: [NOTE] });
  await vi.waitFor(() => expect(chat.sent).toHaveLength(2));
  expect(textsOf(chat)[1]).toMatch(/^I could not listen to this voice note: .* refuses the key/);
  expect(store.turns.counts()).toMatchObject({ queued: 0, running: 0, failed: 0, unsent: 0 });
  await chat.say('and in words?', ADA);
  await vi.waitFor(() => expect(textsOf(chat)).toHaveLength(3));
  expect(prompts).toHaveLength(2);
  expect(prompts[1]).toMatch(
    /id n2\]\n\s*\[voice: the voice note was not understood[\s\S]*and in words\?/,
  );

  // `/voice` is the owner's, chat by chat, and is on disk.
  const said = async (text: string) => {
    const before = terminal.sent.length;
    await terminal.say(text);
    await vi.waitFor(() => expect(terminal.sent.length).toBeGreaterThan(before));
    return textsOf(terminal).at(-1);
  };
  expect(await said('/voice on')).toContain('its channel sends no voice notes here');
  expect(isSpokenIn(join(project.dir, 'data'), 'terminal:main')).toBe(true);
  expect(isSpokenIn(join(project.dir, 'data'), ADA.jid)).toBe(false);
  expect(await said('/voice')).toMatch(
    /up to 300 s become text by whisper-1\.\nToday: 0\.1 of 120 minutes/,
  );
  // An agent knows where its answers are heard.
  const opened = section.open(environment, { ...context, dataDir: join(project.dir, 'data') });
  if (opened.kind === 'wrong-settings') throw new Error('wrong settings');
  const prompt = (folder: string, channel: string) =>
    opened.value?.({ group: { folder }, channel } as never, {} as never);
  expect(prompt('main', 'terminal')).toContain('read aloud');
  expect(prompt('main', 'whatsapp')).toBeNull();
  expect(prompt('ada', 'chat')).toBeNull();
  expect(await said('/voice off')).toContain('are text alone');
  // The owner names another chat in their own: on many channels that one is a member's, whose `/voice` is none.
  expect(await said('/voice on 2')).toContain('Answers in Main are to be spoken');
  expect(isSpokenIn(join(project.dir, 'data'), ADA.jid)).toBe(true);
  const kept = join(project.dir, 'data/of-chats/chat-ada/voice.json');
  expect(statSync(kept).mode & 0o077).toBe(0);
  expect(await said('/voice chat-ada')).toContain('Answers in Main are to be spoken');
  expect(await said('/voice 2 off')).toContain('Answers in Main are text alone');
  expect(isSpokenIn(join(project.dir, 'data'), ADA.jid)).toBe(false);
  expect(await said('/voice loud')).toContain('No registered chat is called loud');
  expect(await said('/voice on 2 now')).toContain('Say `/voice on` or `/voice off`');
  expect(isSpokenIn(join(project.dir, 'data'), 'terminal:main')).toBe(false);
  await assistant.stop();
});
