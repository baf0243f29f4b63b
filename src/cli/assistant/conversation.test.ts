import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AssistantMessage } from '../../supervisor/control/messages.ts';
import { openControl } from '../../supervisor/control/server.ts';
import { openConversation } from './conversation.ts';

test('an answer is told from progress by its kind, whatever its lines begin with', async () => {
  const answer = 'The poem ends so:\n… and all was still.';
  const dots = '… and all\n… was still.';
  const seen = await hearing([
    { kind: 'progress', text: '… checking the tree' },
    { kind: 'progress', text: 'no dots' },
    { kind: 'answer', text: answer },
    { kind: 'answer', text: dots },
    { kind: 'acknowledged', end: 'answered' },
  ]);
  expect(seen).toEqual({ answers: [answer, dots], progress: ['… checking the tree', 'no dots'] });
});

/** Returns what a shell shows of the messages that the assistant answers with. */
async function hearing(messages: readonly AssistantMessage[]) {
  const dataDir = mkdtempSync(join(tmpdir(), 'claw-conversation-'));
  const server = await openControl(dataDir, (shell) => ({
    onMessage: () => messages.forEach(shell.send),
    onEnd: () => {},
  }));
  const [answers, progress]: [string[], string[]] = [[], []];
  const view = {
    onAnswer: (text: string) => void answers.push(text),
    onProgress: (text: string) => void progress.push(text),
    onActivity: () => {},
  };
  const conversation = await openConversation(dataDir, view, new AbortController().signal);
  await conversation?.say('go');
  conversation?.leave();
  await server.close();
  rmSync(dataDir, { recursive: true });
  return { answers, progress };
}
