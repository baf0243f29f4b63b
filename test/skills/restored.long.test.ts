import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { LinearServer, ME, type User } from '../../skills/linear/tests/linear-server.ts';
import { readFence } from '../../src/store/backup/fence.ts';
import { openStore } from '../../src/store/store.ts';
import { TestConversation, TestTree } from '../../src/testing/claw/supervised-project.ts';
import { describeWithEngine } from '../../src/testing/engine.ts';
import {
  type AnthropicScript,
  lastUserText,
  startAnthropicServer,
} from '../../src/testing/model/anthropic.ts';
import { TEST_KEY } from '../../src/testing/sandbox-project.ts';

const MINUTES = 20 * 60_000;
const LINEAR_KEY = 'lin_api_key-of-nobody';
const SKILL = join(import.meta.dirname, '../../skills/linear/add');
const ADA: User = {
  id: '00000000-0000-4000-8000-000000000001',
  name: 'Ada',
  email: 'ada@example.org',
};

const repeat: AnthropicScript = (request) => {
  const [last = ''] = lastUserText(request).split('\n').slice(-1);
  return [{ type: 'text', text: `Heard: ${last.replace(/^\[[^\]]*\] [^:]*: /, '')}` }];
};
const until = (isSo: () => void) => vi.waitFor(isSo, { timeout: 180_000, interval: 50 });

/** Returns a tree with the skill in it. */
function treeWithLinear(): TestTree {
  const tree = new TestTree();
  cpSync(SKILL, tree.dir, { recursive: true });
  return tree;
}

async function claw(tree: TestTree, ...args: readonly string[]): Promise<TestConversation> {
  const conversation = new TestConversation(tree, [process.execPath, 'bin/claw.js', ...args]);
  expect(`${await conversation.end()} ${conversation.stderr}`).toMatch(/^0 /);
  return conversation;
}

// Linear keeps what was said, and brings no npm packages.
await describeWithEngine('bubblewrap', 'an assistant that was restored', () => {
  test(
    'is silent until the owner says so, then hears what was said since the backup, and says nothing twice',
    async () => {
      await using linear = await new LinearServer().comeUp();
      const server = await startAnthropicServer(repeat);
      const environment = {
        ANTHROPIC_BASE_URL: server.url,
        ANTHROPIC_API_KEY: TEST_KEY,
        LINEAR_API_URL: linear.url,
        LINEAR_API_KEY: LINEAR_KEY,
        LINEAR_ALLOW_FROM: ADA.email,
        LINEAR_POLL_SECONDS: '5',
      };
      const posted = () => linear.posted.map(({ body }) => body);
      using lost = treeWithLinear();
      const issue = linear.open(ME, 'An old issue');
      await using first = TestConversation.start(lost, environment);
      await until(() => expect(linear.asked.length).toBeGreaterThan(0));
      linear.comment(ADA, issue, 'before the backup');
      await until(() => expect(posted()).toEqual(['Heard: before the backup']));
      expect(await first.end()).toBe(0);
      // It is due by the time that the assistant comes back.
      const store = openStore({ path: join(lost.dataDir, 'claw.db'), now: Date.now() });
      const anchor = Date.now() - 1_000;
      const text = new Date(anchor).toISOString();
      const task = { folder: 'main', createdBy: 'main', context: 'isolated', ifMissed: 'run-once' };
      const schedule = { kind: 'at', text, timeZone: 'UTC', anchor };
      store.tasks.add(
        { ...task, prompt: 'water the plants', nextRun: anchor, schedule } as Parameters<
          typeof store.tasks.add
        >[0],
        anchor,
      );
      store.close();
      await claw(lost, 'backup', '../kept');
      const [file = ''] = readdirSync(join(lost.dir, '../kept'));
      linear.comment(ADA, issue, 'since the backup');

      using found = treeWithLinear();
      await claw(found, 'restore', join(lost.dir, '../kept', file), '--yes');
      expect(readFence(found.dataDir)).not.toBeNull();
      const asked = linear.asked.length;
      const questions = server.requests.length;
      await using second = TestConversation.start(found, environment);
      await second.sees('This assistant was restored from a backup');
      // The owner’s own chat works; everything else is silent.
      second.write('who is there?\n');
      await second.sees('Heard: who is there?');
      second.write('/status\n');
      await second.sees('channel terminal');
      expect(second.stdout).not.toContain('channel linear');
      expect(linear.asked.length).toBe(asked);
      expect(server.requests.length).toBe(questions + 1);

      second.write('/resume here\n');
      await second.sees('continues here');
      expect(readFence(found.dataDir)).toBeNull();
      await until(() => expect(posted()).toContain('Heard: since the backup'));
      await second.sees('Heard: water the plants');
      const looks = linear.asked.length;
      await until(() => expect(linear.asked.length).toBeGreaterThan(looks + 4));
      expect(await second.end()).toBe(0);
      expect(posted()).toEqual(['Heard: before the backup', 'Heard: since the backup']);
      expect(second.stdout.split('Heard: water the plants')).toHaveLength(2);
      await server.close();
    },
    MINUTES,
  );
});
