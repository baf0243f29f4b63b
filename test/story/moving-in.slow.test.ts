import { execFile } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import { expect, test, vi } from 'vitest';
import { FAMILY, makeNanoclaw, OWNER } from '../../src/import/tests/nanoclaw-store.ts';
import { borrowed, startAssistant, TestChannel, textsOf } from '../../src/testing/assistant.ts';
import { TestConversation, TestTree } from '../../src/testing/claw/supervised-project.ts';
import { describeWithEngine } from '../../src/testing/engine.ts';
import {
  type AnthropicRequest,
  type AnthropicScript,
  lastToolResults,
  startAnthropicServer,
} from '../../src/testing/model/anthropic.ts';
import { sandboxProject } from '../../src/testing/sandbox-project.ts';

const CLAW = resolve(import.meta.dirname, '../../bin/claw.js');
const DAY_MS = 86_400_000;
const ZONE = 'Europe/Berlin';
const BEN = '49170111@s.whatsapp.net';

/** A NanoClaw 1 that was used until yesterday evening. */
function nanoclawOfYesterday() {
  const made = makeNanoclaw();
  // This process has the database of the first one open, as a NanoClaw that runs: a copy is nobody's.
  const home = `${made.home}-stopped`;
  cpSync(made.home, home, { recursive: true });
  const source = { home, root: join(home, basename(made.root)) };
  const yesterday = Date.now() - DAY_MS;
  const database = new Database(join(source.root, 'store/messages.db'));
  const insert = database.prepare('INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  const said: readonly (readonly [string, string, string, string, boolean])[] = [
    [OWNER, OWNER, 'Ada', 'Remind me of the quinces on the market', false],
    [OWNER, OWNER, 'Andy', 'Andy: I will remind you of the quinces.', true],
    [FAMILY, BEN, 'Ben', 'Grandma brings the yellow armchair', false],
    [FAMILY, OWNER, 'Ada', '@Andy keep that in mind', false],
  ];
  for (const [number, [chat, sender, name, text, isAnswer]] of said.entries()) {
    const at = new Date(yesterday + number * 60_000).toISOString();
    insert.run(
      `Y${number}`,
      chat,
      sender,
      name,
      text,
      at,
      Number(sender === OWNER),
      Number(isAnswer),
    );
  }
  database.close();
  const time = new Intl.DateTimeFormat('sv-SE', {
    timeZone: ZONE,
    dateStyle: 'short',
    timeStyle: 'short',
  });
  return { ...source, timeOf: (number: number) => time.format(yesterday + number * 60_000) };
}

/** Looks a word up in the history, and answers with what was found. */
const lookUp =
  (query: string): AnthropicScript =>
  (request) => {
    const results = lastToolResults(request);
    return results.length > 0
      ? [{ type: 'text', text: `Found: ${results.join('\n')}` }]
      : [{ type: 'tool_use', name: 'search_history', input: { query } }];
  };

/** All that a request tells the model of the conversation. */
function told(request: AnthropicRequest | undefined): string {
  return JSON.stringify(request?.body.messages ?? []);
}

await describeWithEngine('bubblewrap', 'whoever moves in from NanoClaw 1', () => {
  test('types a question on the first day, and the model is told what was said yesterday, by whom and when', async () => {
    const source = nanoclawOfYesterday();
    const server = await startAnthropicServer(lookUp('quinces'));
    using tree = new TestTree();
    const environment = { HOME: source.home, TZ: ZONE };
    const importing = [process.execPath, 'bin/claw.js', 'import', source.root, '--yes'];
    await using moving = new TestConversation(tree, importing, environment);
    expect(`${await moving.end()} ${moving.stderr}`).toMatch(/^0 /);
    expect(moving.stdout).toContain('Imported from NanoClaw 1.2.12: 3 chats, 10 messages');
    // The key is the one that came with the import: the owner has set up nothing here.
    const ANTHROPIC_BASE_URL = server.url;
    await using assistant = TestConversation.start(tree, { ...environment, ANTHROPIC_BASE_URL });
    expect(await assistant.end('What did I ask you for yesterday?\n')).toBe(0);
    await server.close();
    const [first] = server.requests;
    expect(first?.headers['x-api-key']).toBe('sk-1');
    expect(told(first)).toContain(
      `[${source.timeOf(0)}] Ada: Remind me of the quinces on the market`,
    );
    expect(told(first)).toContain('I will remind you of the quinces.');
    expect(told(first)).not.toContain('armchair');
    expect(assistant.stdout).toMatch(
      /Found: .*you, the assistant: I will remind you of the quinces\.\n.* Ada: Remind me/,
    );
  });

  test('asks in a group, and it knows what the others said there', async () => {
    const source = nanoclawOfYesterday();
    const script = lookUp('armchair');
    await using sandboxed = await sandboxProject({ engine: 'bubblewrap', script });
    const { dir, dataDir, environment, sandbox, server } = sandboxed;
    rmSync(join(dataDir, 'claw.db'));
    const importing = [CLAW, 'import', source.root, '--yes', '--cwd', dir];
    await promisify(execFile)(process.execPath, importing, {
      env: { PATH: process.env['PATH'], HOME: source.home, TZ: ZONE },
    });
    const family = new TestChannel('whatsapp');
    family.ownsJid = (jid) => jid === FAMILY;
    const assistant = await startAssistant(dir, {
      environment,
      channels: [family],
      over: { sandbox: borrowed(sandbox) },
    });
    const where = { jid: FAMILY, chatName: 'Family', isDirect: false, isOwner: true };
    await family.say('@Andy what does grandma bring?', where);
    await vi.waitFor(() => expect(textsOf(family)[0]).toMatch(/^Found: .* Ben: Grandma brings/));
    const [first] = server.requests;
    expect(told(first)).toContain(
      `[${source.timeOf(2)}] Ben: Grandma brings the yellow armchair\\n[${source.timeOf(3)}] Ada: @Andy keep that in mind`,
    );
    expect(told(first)).not.toContain('quinces');
    await assistant.stop();
  });
});
