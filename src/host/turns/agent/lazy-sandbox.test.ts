import { expect, test, vi } from 'vitest';
import type { SandboxReady, SandboxUnavailable } from '../../../sandbox/sandbox.ts';
import { TestProject, textsOf } from '../../../testing/assistant.ts';
import { lazySandbox } from './lazy-sandbox.ts';

test('an engine that comes up later is found by the next question', async () => {
  using project = new TestProject();
  let found: SandboxReady | SandboxUnavailable = { kind: 'unavailable', advice: 'Install Docker.' };
  const sandbox = lazySandbox(async () => found);
  const assistant = await project.start({ over: { sandbox } });
  await assistant.terminal.say('ping');
  await vi.waitFor(() => expect(textsOf(assistant.terminal)[0]).toContain('Install Docker.'));
  found = {
    kind: 'ready',
    sandbox: {
      engine: 'docker',
      description: 'test engine',
      runTurn: async () => ({
        kind: 'answered',
        text: 'pong',
        session: 's1',
        isTruncated: false,
      }),
      startProgram: () => Promise.reject(new Error('no programs')),
      stop: async () => {},
      warm: () => 0,
      close: async () => {},
    },
  };
  await assistant.terminal.say('/retry');
  await vi.waitFor(() => expect(textsOf(assistant.terminal)).toContain('pong'));
  await assistant.stop();
});

test('the end does not wait for a sandbox that is still being opened; it is closed once it is there', async () => {
  const opening = Promise.withResolvers<SandboxReady | SandboxUnavailable>();
  const sandbox = lazySandbox(() => opening.promise);
  const opened = sandbox.open();
  await sandbox.close();
  const close = vi.fn(async () => {});
  opening.resolve({
    kind: 'ready',
    sandbox: {
      engine: 'docker',
      description: 'test engine',
      runTurn: () => Promise.reject(new Error('no turns')),
      startProgram: () => Promise.reject(new Error('no programs')),
      stop: async () => {},
      warm: () => 0,
      close,
    },
  });
  await opened;
  expect(close).toHaveBeenCalledOnce();
});
