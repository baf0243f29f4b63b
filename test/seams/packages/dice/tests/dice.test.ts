import { expect, test } from 'vitest';
import { discoverCommands, openCommands } from '../../../src/host/contracts/command.ts';
import { TestProject, textsOf } from '../../../src/testing/assistant.ts';
import { FAMILY, isIdle, startWithFamily } from '../../../src/testing/turn/tasks.ts';

test('a member throws dice in their chat', async () => {
  const { commands } = openCommands(await discoverCommands(), { DICE_SIDES: '2' });
  using project = new TestProject();
  const assistant = await startWithFamily(project, undefined, undefined, { commands });
  await assistant.chat.say('/dice 3', { jid: FAMILY, isDirect: false, senderName: 'Bob' });
  await isIdle(assistant);
  expect(textsOf(assistant.chat)).toEqual([
    expect.stringMatching(/^Bob throws [12], [12], [12]\.$/),
  ]);
  await assistant.stop();
});
