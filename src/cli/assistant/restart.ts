import type { Invocation } from '@patchclaw/claw/cli';
import { findWrongSettings } from '../../wrong-settings.ts';
import { environmentOf } from '../environment.ts';
import { ownStartCommand } from '../system-service/service.ts';
import { openConversation } from './conversation.ts';
import { dataDirOf } from './with-assistant.ts';

/** Result of asking a running assistant to restart with new settings. */
export type Restarted =
  /** Nothing runs; `startService` is the command for it where the service is installed. */
  | { readonly kind: 'stopped'; readonly startService: string | null }
  | { readonly kind: 'restarted'; readonly said: string }
  | { readonly kind: 'failed'; readonly message: string };

/** Restarts the running assistant, so that new settings take effect. Never throws. */
export async function restartRunning({ root, signal }: Invocation): Promise<Restarted> {
  const problems = findWrongSettings(environmentOf(root), root);
  // It would refuse to restart, which reads like an answer here.
  if (problems.length > 0) return { kind: 'failed', message: problems.join(' ') };
  const said: string[] = [];
  const view = {
    onAnswer: (text: string) => void said.push(text),
    onProgress: () => {},
    onActivity: () => {},
  };
  try {
    const conversation = await openConversation(dataDirOf(root), view, signal);
    if (conversation === null) return { kind: 'stopped', startService: await ownStartCommand() };
    await conversation.say('/restart');
    conversation.leave();
    return { kind: 'restarted', said: said.join('\n') };
  } catch (error) {
    return { kind: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}

/** Returns a sentence for the owner: the restart that was done, or the step that is left to do. */
export function restartedText(restarted: Restarted): string {
  switch (restarted.kind) {
    case 'restarted':
      return `The running assistant has taken it up: ${restarted.said}`;
    case 'stopped':
      return restarted.startService === null
        ? 'Start the assistant with `npm start`; `npx claw setup service` lets the system keep it running.'
        : `Start the assistant with \`${restarted.startService}\`.`;
    case 'failed':
      return `The running assistant did not take it up; say /restart to it. ${restarted.message}`;
  }
}
