import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Pairing } from '../../channels/channel.ts';
import { type TestAssistant, TestProject, textsOf } from '../../testing/assistant.ts';
import { greetingSkill, PROJECT } from '../../testing/owner/greeting-skill.ts';
import { clawRunner } from '../contracts/claw.ts';
import type { HostOptions } from '../contracts/options.ts';

async function hears(assistant: TestAssistant, part: string): Promise<string> {
  await vi.waitFor(() => expect(textsOf(assistant.terminal).join('\n')).toContain(part));
  return textsOf(assistant.terminal).join('\n');
}

test('a word after a command that takes none is told, and nothing is done', async () => {
  using project = new TestProject(PROJECT);
  const assistant = await project.start();
  for (const name of ['restart', 'status', 'skills', 'undo', 'setup']) {
    await assistant.terminal.say(`/${name} tomorrow`);
    await hears(assistant, `\`/${name}\` takes nothing after it: say \`/${name}\` alone.`);
  }
  expect(project.restarts).toBe(0);
  await assistant.stop();
});

test('with no skill in the code, what is taken out or back is told in words of the chat', async () => {
  using project = new TestProject(PROJECT);
  const assistant = await project.start();
  const last = () => textsOf(assistant.terminal).at(-1);
  const listed = '`/skills` lists what is in the code, and what can be added.';
  await assistant.terminal.say('/remove-greeting');
  await vi.waitFor(() => expect(last()).toBe(`No skill is in the code yet. ${listed}`));
  await assistant.terminal.say('/undo');
  await vi.waitFor(() => expect(last()).toBe('There is no change of the code to undo.'));
  await assistant.stop();
});

test('a channel that has no token yet, or is not in the code, is told before who may write', async () => {
  using project = new TestProject(PROJECT);
  const silentChannels = [{ name: 'telegram', needs: ['TELEGRAM_BOT_TOKEN'], wrong: [] }];
  const assistant = await project.start({ over: { silentChannels } });
  const last = () => textsOf(assistant.terminal).at(-1);
  await assistant.terminal.say('/allow telegram 5');
  await vi.waitFor(() => expect(last()).toContain('set TELEGRAM_BOT_TOKEN in `.env`'));
  expect(last()).toContain('`npx claw setup telegram`');
  await assistant.terminal.say('/allow greeting U1');
  await vi.waitFor(() =>
    expect(last()).toBe(
      'There is no channel greeting yet. `/add-greeting` adds the skill of that name.',
    ),
  );
  await assistant.stop();
});

test('a path is not a command, and nobody but the owner gives commands', async () => {
  using project = new TestProject(PROJECT);
  const assistant = await project.start();
  await assistant.terminal.say('/etc/hosts has what in it?');
  await vi.waitFor(() => expect(textsOf(assistant.terminal)).toEqual(['pong']));
  await assistant.terminal.say('/help', { isOwner: false });
  await assistant.chat.say('/help', { isOwner: true });
  await vi.waitFor(() => expect(textsOf(assistant.chat)).toEqual(['pong']));
  await vi.waitFor(() => expect(textsOf(assistant.terminal)).toEqual(['pong', 'pong']));
  await assistant.stop();
});

test('status tells what runs and never the key', async () => {
  using project = new TestProject(PROJECT);
  const assistant = await project.start({ environment: { ANTHROPIC_API_KEY: 'sk-secret-1' } });
  await assistant.terminal.say('/status');
  const status = await hears(assistant, 'code: the release as it came');
  expect(status).toContain('sandbox: test engine');
  expect(status).toContain('model: anthropic/claude-sonnet-5-5 (key is set)');
  expect(status).toContain('queue: 0 waiting, 0 running, 0 failed, 0 unsent');
  expect(status).not.toContain('sk-secret-1');
  await assistant.stop();
});

test('status tells the code that runs from the code on disk, which a shell may have changed since', async () => {
  using project = new TestProject(PROJECT);
  const claw = clawRunner({
    nodePath: process.execPath,
    clawPath: join(import.meta.dirname, '../../../bin/claw.js'),
    projectDir: project.dir,
    environment: process.env,
    modelKey: {},
  });
  const first = await project.start();
  expect(await claw(['apply', 'greeting'])).toMatchObject({ ok: true });
  await first.terminal.say('/status');
  const status = await hears(first, 'code: release and no skills, as at the start');
  expect(status).toMatch(
    /- code on disk: release and greeting 1\.2\.0.*; say `\/restart` to run it/,
  );
  await first.stop();
  const second = await project.start();
  expect(await claw(['remove', 'greeting'])).toMatchObject({ ok: true });
  await second.terminal.say('/status');
  const later = await hears(second, 'code: release and greeting 1.2.0, as at the start');
  expect(later).toMatch(/- code on disk: release and no skills.*; say `\/restart` to run it/);
  await second.stop();
});

test('status names the set-up of a silent channel, or the settings that it waits for', async () => {
  using project = new TestProject({ ...PROJECT, 'src/setup/raven.ts': '' });
  const silentChannels = [
    { name: 'pigeon', needs: ['PIGEON_TOKEN', 'PIGEON_LOFT'], wrong: [] },
    { name: 'raven', needs: ['RAVEN_TOKEN'], wrong: [] },
    { name: 'smoke', needs: [], wrong: [] },
  ];
  const assistant = await project.start({
    environment: { PIGEON_LOFT: 'roof' },
    over: { silentChannels },
  });
  await assistant.terminal.say('/status');
  const status = await hears(assistant, 'channel pigeon');
  expect(status).toContain(
    'channel pigeon: silent (set PIGEON_TOKEN in `.env`, then say `/restart`)',
  );
  expect(status).toContain('channel raven: silent (run `npx claw setup raven` in a shell)');
  expect(status).toContain('channel smoke: silent (nothing is set for it yet)');
  await assistant.stop();
});

test('skills lists what can be added', async () => {
  using project = new TestProject(PROJECT);
  const assistant = await project.start();
  await assistant.terminal.say('/skills');
  await hears(assistant, '`/add-greeting` 1.2.0: Says hello');
  await assistant.stop();
});

test('a skill is added and undone at a yes, and the next process reports it with its set-up', async () => {
  using project = new TestProject(PROJECT);
  const first = await project.start();
  await first.terminal.say('/add-greeting');
  expect(await hears(first, 'Add it? Say yes or no.')).toContain('files: 2 new');
  await first.terminal.say('yes');
  await vi.waitFor(() => expect(project.restarts).toBe(1));
  expect(first.terminal.acknowledged).toHaveLength(2);
  await first.stop();
  expect(readFileSync(join(project.dir, 'src/greeting.txt'), 'utf8')).toBe('hello\n');

  const second = await project.start();
  const report = await hears(second, 'greeting 1.2.0 is in');
  expect(report).toContain('GREETING_WORD');
  expect(report).toContain('Put `GREETING_WORD` into `.env`.');
  expect(report).not.toContain('Nothing.');
  await vi.waitFor(() => expect(second.terminal.acknowledged).toHaveLength(1));

  await second.terminal.say('/add-greeting');
  await hears(second, 'greeting is in already.');
  await second.terminal.say('/remove-greeting');
  await vi.waitFor(() => expect(project.restarts).toBe(2));
  await second.stop();
  expect(existsSync(join(project.dir, 'src/greeting.txt'))).toBe(false);
  const databases = join(project.dir, 'data/databases');
  mkdirSync(databases, { recursive: true });
  for (const name of ['service-greeting.db', 'service-greeting.db-wal', 'service-more-greeting.db'])
    writeFileSync(join(databases, name), '');
  const ofChats = join(project.dir, 'data/of-chats');
  for (const chat of ['family', 'main'])
    mkdirSync(join(ofChats, chat, 'greeting'), { recursive: true });
  writeFileSync(join(ofChats, 'main/greeting.json'), '{}');
  const third = await project.start({ environment: { GREETING_WORD: 'hello' } });
  expect(await hears(third, 'greeting is out')).toContain(
    'Still set in `.env`, where no skill reads them now: GREETING_WORD.\n\n' +
      'Kept, for when you add it again: `data/of-chats/*/greeting`, `data/of-chats/*/greeting.json`, `data/databases/service-greeting.db`.',
  );
  await third.terminal.say('/undo');
  const shown = await hears(third, 'Undo it? Say yes or no.');
  expect(shown).toMatch(/Undoing `remove greeting`:\n- files: 2 new/);
  await third.terminal.say('no');
  await hears(third, 'Nothing was undone.');
  expect(existsSync(join(project.dir, 'src/greeting.txt'))).toBe(false);
  await third.terminal.say('/undo');
  await vi.waitFor(() => expect(textsOf(third.terminal)).toHaveLength(4));
  await third.terminal.say('yes');
  await vi.waitFor(() => expect(project.restarts).toBe(3));
  await third.stop();
  const fourth = await project.start();
  await hears(fourth, 'The last change is undone');
  expect(existsSync(join(project.dir, 'src/greeting.txt'))).toBe(true);
  await fourth.stop();
});

test('several skills are added as one change, and each that has a set-up step or command is told with it', async () => {
  const lamp = Object.entries(greetingSkill('lamp')).map(([path, text]) => [
    path,
    text.replace('Put `', 'Run `npx claw setup --provider lamp`, or put `'),
  ]);
  const wave = Object.entries(greetingSkill('wave')).map(([path, text]) => [
    path.replace('src/wave.txt', 'src/setup/wave.ts'),
    text.replace('src/wave.txt', 'src/setup/wave.ts'),
  ]);
  const files = {
    ...PROJECT,
    '.env.example': 'NAME=\n',
    ...Object.fromEntries([...wave, ...lamp]),
  };
  using project = new TestProject(files);
  const first = await project.start();
  await first.terminal.say('/add-greeting wave lamp');
  const plan = await hears(first, 'greeting 1.2.0, wave 1.2.0, lamp 1.2.0 bring:');
  expect(plan).toMatch(/- files: 1 changed \(\.env\.example\), 3 new \(src\//);
  await first.terminal.say('yes');
  await vi.waitFor(() => expect(project.restarts).toBe(1));
  await first.stop();
  const second = await project.start();
  const report = await hears(second, 'greeting 1.2.0, lamp 1.2.0, wave 1.2.0 are in: ');
  expect(report).toContain('Not set in `.env`: GREETING_WORD.');
  expect(report).toContain(
    'To set them up, in a shell:\n\n- `npx claw setup --provider lamp`, or as skills/lamp/SKILL.md says\n- `npx claw setup wave`',
  );
  expect(report).not.toContain('npx claw setup greeting');
  await second.stop();
});

test('a setting that a skill works without is not asked for, and its set-up is told all the same', async () => {
  const greeting = Object.entries(greetingSkill('greeting')).map(([path, text]) => [
    path,
    text.replace('[GREETING_WORD]', '[{ name: GREETING_WORD, optional: true }]'),
  ]);
  using project = new TestProject({ ...PROJECT, ...Object.fromEntries(greeting) });
  const first = await project.start();
  await first.terminal.say('/add-greeting');
  expect(await hears(first, 'Say yes or no.')).toContain('GREETING_WORD (optional)');
  await first.terminal.say('yes');
  await vi.waitFor(() => expect(project.restarts).toBe(1));
  await first.stop();
  const second = await project.start();
  const report = await hears(second, 'greeting 1.2.0 is in');
  expect(report).not.toContain('Not set');
  expect(report).toContain('Put `GREETING_WORD` into `.env`.');
  await second.stop();
});

test('many optional settings are shown as a number, beside the ones to set', async () => {
  const optional = ['A', 'B', 'C', 'D', 'E'].map(
    (letter) => `{ name: LAMP_${letter}, optional: true }`,
  );
  const greeting = Object.entries(greetingSkill('greeting')).map(([path, text]) => [
    path,
    text.replace('[GREETING_WORD]', `[GREETING_WORD, ${optional.join(', ')}]`),
  ]);
  using project = new TestProject({ ...PROJECT, ...Object.fromEntries(greeting) });
  const assistant = await project.start();
  await assistant.terminal.say('/add-greeting');
  expect(await hears(assistant, 'Say yes or no.')).toContain(
    '- settings: GREETING_WORD (not set), 5 optional ones, which `.env.example` explains\n',
  );
  await assistant.terminal.say('/add-greeting packed');
  expect(await hears(assistant, 'Add them?')).toContain('packed 1.2.0 bring:');
  await assistant.stop();
});

test('a tree that was taken back is told with the reason', async () => {
  using project = new TestProject(PROJECT);
  const first = await project.start();
  await first.terminal.say('/add-greeting');
  await hears(first, 'Say yes or no.');
  await first.terminal.say('yes');
  await vi.waitFor(() => expect(project.restarts).toBe(1));
  await first.stop();
  const second = await project.start({}, 'It ended with code 1.');
  const told = await hears(second, 'Adding greeting was taken back');
  expect(told).toContain('It ended with code 1.');
  await second.stop();
});

test('a skill with packages is asked for, and anything but a yes leaves it out', async () => {
  using project = new TestProject(PROJECT);
  const assistant = await project.start();
  await assistant.terminal.say('/add-packed');
  const plan = await hears(assistant, 'Say yes or no.');
  expect(plan).toMatch(
    /- files: .*\n- packages: left-pad@\^1\.0\.0\n- settings: GREETING_WORD \(not set\)/,
  );
  await assistant.terminal.say('no');
  await hears(assistant, 'packed was not added.');
  await assistant.terminal.say('/add-packed');
  await vi.waitFor(() => expect(textsOf(assistant.terminal)).toHaveLength(3));
  await assistant.terminal.say('what was that again?');
  await vi.waitFor(() => expect(textsOf(assistant.terminal)).toHaveLength(5));
  await assistant.terminal.say('yes');
  await vi.waitFor(() => expect(textsOf(assistant.terminal)).toHaveLength(6));
  expect(textsOf(assistant.terminal).slice(3)).toEqual([
    'packed was not added. Say `/add-packed` when you want it.',
    'pong',
    'pong',
  ]);
  expect(project.restarts).toBe(0);
  await assistant.stop();
});

test('a question outlives a restart', async () => {
  using project = new TestProject(PROJECT);
  const first = await project.start();
  await first.terminal.say('/add-packed');
  await hears(first, 'Say yes or no.');
  await first.stop();
  const second = await project.start();
  await second.terminal.say('No.');
  await hears(second, 'packed was not added.');
  await second.stop();
});

test('a blocked plan names file and skill, and a missing skill is an answer too', async () => {
  using project = new TestProject({ ...PROJECT, 'src/greeting.txt': 'my own\n' });
  const assistant = await project.start();
  await assistant.terminal.say('/add-greeting');
  const blocked = await hears(assistant, 'Say a number.');
  expect(blocked).toContain('src/greeting.txt');
  expect(blocked).toContain('greeting');
  expect(readFileSync(join(project.dir, 'src/greeting.txt'), 'utf8')).toBe('my own\n');
  await assistant.terminal.say('give up');
  await hears(assistant, 'Given up. Everything is as it was.');
  await assistant.terminal.say('/add-greetin');
  await hears(assistant, 'There is no skill "greetin".');
  expect(project.restarts).toBe(0);
  await assistant.stop();
});

test('if a chat cannot do something, the answer says what can be done there', async () => {
  using project = new TestProject();
  const assistant = await project.start();
  Object.assign(assistant.chat, { allowSetting: 'CHAT_ALLOW_FROM' });
  await assistant.terminal.say('/setup');
  await hears(assistant, 'Keys belong in no chat');
  await assistant.terminal.say('/sotp');
  await hears(assistant, 'Nearest: `/stop`.');
  await assistant.terminal.say('/allow chat 5');
  await hears(assistant, 'the setting CHAT_ALLOW_FROM in `.env`: add 5 there');
  await assistant.terminal.say('/add-nonexistent');
  const heard = await hears(assistant, 'There is no skill "nonexistent".');
  expect(heard).toContain('`/skills` lists what can be added.');
  expect(heard).not.toContain('claw list');
  await assistant.stop();
});

test('how far a command is goes out as progress, and its end as an answer', async () => {
  using project = new TestProject();
  const claw: HostOptions['claw'] = async (_args, onProgress) => {
    onProgress?.({ kind: 'step', text: 'merging' });
    const parts = { data: null, changes: [], conflicts: [], warnings: [], error: null };
    return { ok: true, outcome: 'nothing', exitCode: 0, ...parts };
  };
  const assistant = await project.start({ over: { claw } });
  await assistant.terminal.say('/remove-telegram');
  await hears(assistant, '… merging');
  await vi.waitFor(() => expect(assistant.terminal.sent).toHaveLength(2));
  const [progress, answer] = assistant.terminal.sent;
  expect(progress).toMatchObject({ text: '… merging', isProgress: true });
  expect(answer).not.toHaveProperty('isProgress');
  await assistant.stop();
});

const PAIRING: Pairing = { title: 'Chat', optionsOf: () => [], wrongUse: () => '' };

test('a code of /pair is drawn in the terminal alone', async () => {
  using project = new TestProject();
  const asked: string[] = [];
  const claw: HostOptions['claw'] = async (args, onProgress) => {
    asked.push(args.join(' '));
    if (args.includes('--relay')) onProgress?.({ kind: 'note', text: 'qr 2@abc,def==' });
    const error = { code: 'SETUP_REFUSED', message: 'Nobody answered.' };
    return {
      ok: false,
      outcome: 'failed',
      data: null,
      changes: [],
      conflicts: [],
      warnings: [],
      error,
      exitCode: 1,
    };
  };
  for (const drawsCodes of [true, false]) {
    const assistant = await project.start({ over: { claw, drawsCodes } });
    Object.assign(assistant.chat, { state: { state: 'stopped', detail: null }, pairing: PAIRING });
    await assistant.terminal.say('/pair');
    const heard = await hears(assistant, 'Nobody answered.');
    expect(heard.includes('```qr\n2@abc,def==\n```')).toBe(drawsCodes);
    await assistant.stop();
  }
  expect(asked).toEqual(['setup --no-restart chat --relay', 'setup --no-restart chat']);
});
