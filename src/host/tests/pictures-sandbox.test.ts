import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { borrowed, isProgressLine, startAssistant } from '../../testing/assistant.ts';
import { describeWithEngine } from '../../testing/engine.ts';
import { type AnthropicScript, lastToolResults } from '../../testing/model/anthropic.ts';
import { pngOf } from '../../testing/pictures.ts';
import { sandboxProject } from '../../testing/sandbox-project.ts';
import { LinkedChannel } from '../../testing/whatsapp/linked-channel.ts';
import { startWhatsAppServer } from '../../testing/whatsapp/server.ts';

const ANNA = { phoneNumber: '4915111111111', lidNumber: '100000000001', name: 'Anna' };
const GROUP = '120363000000000001@g.us';
const PICTURE = pngOf({ width: 64, height: 48 });

/** Copies the picture that it is shown into its folder, and shows that. */
const script: AnthropicScript = (request) =>
  lastToolResults(request).length > 0
    ? [{ type: 'text', text: 'The same: ![a drawing](drawn.png)' }]
    : [{ type: 'tool_use', name: 'shell', input: { command: 'cp ../media/*.png drawn.png' } }];

await describeWithEngine('bubblewrap', 'a picture of a phone', () => {
  test('is shown to the model, and one of the agent’s is sent back', async () => {
    const server = await startWhatsAppServer();
    await using project = await sandboxProject({ engine: 'bubblewrap', script });
    rmSync(join(project.dataDir, 'claw.db'));
    const linked = new LinkedChannel(server, {}, {}, project.dataDir);
    await linked.pair();
    const anna = server.person(ANNA);
    const members = [anna];
    const family = server.group({ jid: GROUP, subject: 'Photos', addressing: 'lid', members });
    const { sandbox, environment } = project;
    const over = { channels: [linked.channel], sandbox: borrowed(sandbox) };
    const assistant = await startAssistant(project.dir, { environment, over });
    await expect.poll(() => assistant.store.chats.byJid(GROUP)).not.toBeNull();
    await server.sayOnPhone('/register Photos');
    await expect.poll(() => assistant.store.groups.byJid(GROUP)).not.toBeNull();

    const sent = await server.upload({ type: 'image', bytes: PICTURE, mimetype: 'image/jpeg' });
    const imageMessage = { ...sent, caption: '@Andy copy this' };
    const id = await server.say(anna, { imageMessage }, { group: family });
    // A machine that is busy says how far it is first.
    const read = () =>
      anna.read
        .map(({ message }) => message)
        .filter((message) => !isProgressLine(message?.extendedTextMessage?.text));
    await expect.poll(() => read().length).toBe(2);
    const asked = project.server.requests[0]?.body.messages.at(-1)?.content;
    expect(asked).toMatchObject([
      { type: 'text', text: expect.stringContaining('[For this turn]') },
      { type: 'text', text: expect.stringContaining('@Andy copy this') },
      {
        type: 'text',
        text: expect.stringContaining(`[picture of message ${id}: /workspace/media/`),
      },
      {
        type: 'image',
        source: { type: 'base64', media_type: 'image/png', data: PICTURE.toString('base64') },
      },
    ]);
    const [words, picture] = read();
    expect(words?.extendedTextMessage?.text).toBe('The same: [a drawing]');
    expect(picture?.imageMessage).toMatchObject({ mimetype: 'image/png' });
    const [run] = assistant.store.turnRuns.newest(1);
    expect(run).toMatchObject({ chatName: 'Photos', state: 'answered', modelCalls: 2 });
    const steps = assistant.store.turnRuns.stepsOf(run?.seq ?? 0);
    expect(steps.map(({ kind }) => kind)).toEqual(['model', 'own_tool', 'model']);
    await assistant.stop();
    await server.close();
  });
});
