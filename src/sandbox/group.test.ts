import { expect, test } from 'vitest';
import { testModel } from '../testing/model/test-model.ts';
import { GroupContainer, type GroupTurn } from './group.ts';

test('a turn that is stopped before its container is up is over at once, and the next one waits for that container', async () => {
  const starts: PromiseWithResolvers<never>[] = [];
  const group = new GroupContainer({
    startAgent() {
      const start = Promise.withResolvers<never>();
      starts.push(start);
      return start.promise;
    },
    isMisplaced: () => false,
    elapsed: () => 0,
  });
  const first = group.run(turn('first'));
  await expect.poll(() => starts.length).toBe(1);
  const stopped = group.stop();
  expect(await first).toMatchObject({
    code: 'AGENT_DIED',
    message: expect.stringMatching('began'),
  });
  const second = group.run(turn('second'));
  expect(starts).toHaveLength(1);
  starts[0]?.reject(new Error('the engine is slow'));
  await stopped;
  await expect.poll(() => starts.length).toBe(2);
  starts[1]?.reject(new Error('the engine is gone'));
  expect(await second).toMatchObject({ code: 'NO_ENGINE' });
  await group.close();
});

function turn(id: string): GroupTurn {
  const model = testModel();
  const about = { id, session: null, system: '', sections: {}, prompt: 'ping' };
  const none = async () => {
    throw new Error('no agent is there to ask');
  };
  return {
    parts: {
      request: { ...about, folder: 'main', isMain: true, models: [model], tools: [] },
      events: { onText() {}, onTool: none, onAsk: none, onModelCall: none },
      toolNames: new Set(),
    },
    frame: {
      type: 'turn',
      ...about,
      pictures: [],
      earlier: [],
      tools: [],
      maxRounds: 1,
      shellTimeoutMs: 1,
      model: {
        protocol: 'messages',
        model: 'test',
        contextTokens: 1_000,
        callsTools: true,
        seesPictures: false,
      },
    },
    limits: { timeoutMs: 1, idleMs: 1 },
  };
}
