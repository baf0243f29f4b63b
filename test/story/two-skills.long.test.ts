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

let clone: Clone;
let released: Snapshot;
/** The tree with both skills and the edit, but npm's lock. */
let withBoth: Snapshot;

beforeAll(() => {
  clone = cloneRepository();
  released = clone.code();
});
afterAll(async () => {
  await clone?.[Symbol.asyncDispose]();
});

test(
  'one after the other, with an edit of the owner in between, and their tests pass',
  async () => {
    await apply('telegram');
    clone.write({ [EDITED]: edit(clone.read(EDITED)) });
    await apply('slack');
    withBoth = treeOf(clone);
    expect(withBoth[EDITED]).toContain('default(300_000)');
    expect(Object.keys(withBoth)).toContain('src/channels/telegram.ts');
    expect(Object.keys(withBoth)).toContain('src/channels/slack.ts');
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
    clone.write({ '.env': settings.map(([name, value]) => `${name}=${value}\n`).join('') });
    await using assistant = await Assistant.start(clone);
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
  'removing either leaves the other and the edit; the other order gives the same tree; without both, the release and the edit',
  async () => {
    await removeAndLook('telegram', 'slack');
    await apply('telegram');
    expect(treeOf(clone)).toEqual(withBoth);
    await removeAndLook('slack', 'telegram');
    expect(await clone.claw('remove', 'telegram', ...PROOF)).toMatchObject({ code: 0 });
    expect(clone.git('diff', '--stat', 'HEAD')).toMatch(/1 file changed, 1 insertion/);
    const edited = { ...released, [EDITED]: edit(released[EDITED] ?? '') };
    expect(clone.code()).toEqual(edited);
    expect((await clone.claw('verify')).json.data).toMatchObject({
      edits: [{ path: EDITED }],
      recomposed: [],
      damaged: [],
    });
  },
  MINUTES,
);

function treeOf({ code }: Clone): Snapshot {
  const { 'package-lock.json': _lock, ...tree } = code();
  return tree;
}

async function apply(skill: string): Promise<void> {
  const run = await clone.claw('apply', skill, ...PROOF);
  expect(run.json.error).toBeNull();
  expect(run).toMatchObject({ code: 0, json: { outcome: 'done', warnings: [], conflicts: [] } });
  const applied = ['slack', 'telegram'].filter((name) => clone.has(`.claw/packages/${name}`));
  expect(run.stderr).toContain(`test: ${applied.join(', ')}`);
}

/** An edit that neither skill makes, and that changes what the program does. */
function edit(text: string): string {
  return text.replace('default(600_000)', 'default(300_000)');
}

async function removeAndLook(removed: string, left: string): Promise<void> {
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
