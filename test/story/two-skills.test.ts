import { afterAll, beforeAll, expect, test } from 'vitest';
import { Assistant } from './assistant.ts';
import { type Clone, cloneRepository, type Snapshot } from './clone.ts';
import {
  ADA,
  ADA_DIRECT_ON_SLACK,
  ADA_ON_SLACK,
  directChat,
  startSlack,
  startTelegram,
} from './far-ends.ts';

const EDITED = 'src/config.ts';
// What the two make of each other is tested here; the code's own tests prove it in the story beside this one.
const PROOF = ['--proof', 'skills'];
const MINUTES = 15 * 60_000;

/** One clone for each order. */
let telegramFirst: Clone;
let slackFirst: Clone;
let edited: Snapshot;

beforeAll(() => {
  telegramFirst = cloneRepository();
  slackFirst = cloneRepository();
});
afterAll(async () => {
  await telegramFirst?.[Symbol.asyncDispose]();
  await slackFirst?.[Symbol.asyncDispose]();
});

test(
  'both orders, with an edit of the owner in between, give the same tree, and its tests pass',
  async () => {
    const [one, other] = await Promise.all([
      applyAround(telegramFirst, 'telegram', 'slack'),
      applyAround(slackFirst, 'slack', 'telegram'),
    ]);
    expect(one).toEqual(other);
    expect(one[EDITED]).toContain('default(300_000)');
    expect(Object.keys(one)).toContain('src/channels/telegram.ts');
    expect(Object.keys(one)).toContain('src/channels/slack.ts');
  },
  MINUTES,
);

test(
  'both channels come up in one assistant, and answer',
  async () => {
    const telegram = await startTelegram();
    const slack = await startSlack();
    await using _telegram = telegram.server;
    await using _slack = slack.server;
    const settings = Object.entries({ ...telegram.settings, ...slack.settings });
    telegramFirst.write({ '.env': settings.map(([name, value]) => `${name}=${value}\n`).join('') });
    await using assistant = await Assistant.start(telegramFirst);
    const status = await assistant.ask('/status');
    expect(status).toContain('channel telegram: connected');
    expect(status).toContain('channel slack: connected');
    telegram.server.sendText(ADA, directChat(ADA), 'hello');
    slack.server.sendText(ADA_ON_SLACK, ADA_DIRECT_ON_SLACK, 'hello');
    await telegram.server.until(() => telegram.server.sent.length > 0);
    await slack.server.until(() => slack.server.posted.length > 0);
    // What an assistant without a model says: the message has gone all the way and back.
    expect(telegram.server.sent[0]?.text).toContain('There is no key for the model yet');
    expect(slack.server.posted[0]?.text).toContain('There is no key for the model yet');
    expect(await assistant.end()).toBe(0);
  },
  MINUTES,
);

test(
  'removing either leaves the other and the edit; removing both, the release and the edit',
  async () => {
    await Promise.all([
      removeAndLook(telegramFirst, 'telegram', 'slack'),
      removeAndLook(slackFirst, 'slack', 'telegram'),
    ]);
    expect(await telegramFirst.claw('remove', 'slack', ...PROOF)).toMatchObject({ code: 0 });
    expect(telegramFirst.git('diff', '--stat', 'HEAD')).toMatch(/1 file changed, 1 insertion/);
    expect(telegramFirst.code()).toEqual(edited);
    expect((await telegramFirst.claw('verify')).json.data).toMatchObject({
      edits: [{ path: EDITED }],
      recomposed: [],
      damaged: [],
    });
  },
  MINUTES,
);

/** Applies one skill, edits the file that both change, applies the other; the tree but npm's lock. */
async function applyAround(clone: Clone, first: string, second: string): Promise<Snapshot> {
  const released = clone.code();
  await apply(clone, [first]);
  clone.write({ [EDITED]: edit(clone.read(EDITED)) });
  await apply(clone, [first, second].sort());
  edited = { ...released, [EDITED]: edit(released[EDITED] ?? '') };
  const { 'package-lock.json': _lock, ...tree } = clone.code();
  return tree;
}

async function apply(clone: Clone, skills: readonly string[]): Promise<void> {
  const missing = skills.filter((skill) => !clone.has(`.claw/packages/${skill}`));
  const run = await clone.claw('apply', ...missing, ...PROOF);
  expect(run.json.error).toBeNull();
  expect(run).toMatchObject({ code: 0, json: { outcome: 'done', warnings: [], conflicts: [] } });
  expect(run.stderr).toContain(`test: ${skills.join(', ')}`);
}

/** An edit that neither skill makes, and that changes what the program does. */
function edit(text: string): string {
  return text.replace('default(600_000)', 'default(300_000)');
}

async function removeAndLook(clone: Clone, removed: string, left: string): Promise<void> {
  const run = await clone.claw('remove', removed, ...PROOF);
  expect(run).toMatchObject({ code: 0, json: { warnings: [], conflicts: [] } });
  expect(run.stderr).toContain(`test: ${left}\n`);
  const code = clone.code();
  expect(code[EDITED]).toContain('default(300_000)');
  expect(code['.env.example']).toContain(`${left.toUpperCase()}_ALLOW_FROM`);
  const text = [EDITED, 'package.json', '.env.example'].map((path) => code[path]).join('\n');
  expect(text).not.toMatch(removed === 'telegram' ? /telegram|grammy/i : /slack/i);
  const places = Object.keys(code).filter((path) => path.startsWith(`src/channels/${removed}`));
  expect(places).toEqual([]);
  expect(clone.has(`src/channels/${left}.ts`)).toBe(true);
}
