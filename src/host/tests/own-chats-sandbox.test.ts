import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { borrowed, startAssistant, type TestChannel } from '../../testing/assistant.ts';
import { describeWithEngine } from '../../testing/engine.ts';
import { sandboxProject } from '../../testing/sandbox-project.ts';

await describeWithEngine('bubblewrap', 'S2-10: the one conversation of the owner’s chats', () => {
  test('each line names its channel, the earlier ones too, and the beginning stays the same', async () => {
    await using project = await sandboxProject({ engine: 'bubblewrap' });
    rmSync(join(project.dataDir, 'claw.db'));
    const over = { sandbox: borrowed(project.sandbox) };
    const { environment } = project;
    const assistant = await startAssistant(project.dir, { environment, over });
    const say = async (channel: TestChannel, text: string) => {
      const before = channel.sent.length;
      await channel.say(text, { isOwner: true });
      await vi.waitFor(() => expect(channel.sent.length).toBeGreaterThan(before));
    };
    await assistant.chat.meet('chat:main', 'Phone', { isDirect: true, isOwners: true });
    await say(assistant.terminal, 'I am at the desk');
    await say(assistant.chat, 'now I am on the train');
    const [first, second] = project.server.requests.map(({ body }) => body);
    const told = JSON.stringify(second?.messages);
    expect(told).toMatch(
      /From: \[terminal \/ owner\].*I am at the desk.*From: \[chat \/ owner\].*train/s,
    );
    expect(second?.system).toEqual(first?.system);
    await assistant.stop();
  });
});
