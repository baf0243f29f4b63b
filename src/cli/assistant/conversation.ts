import { connectControl } from '../../control/client.ts';
import type { AssistantMessage } from '../../control/messages.ts';
import { ClawError } from '../../engine/commands.ts';
import { CliError, type CommandError } from '../cli-error.ts';

/** Callbacks through which a shell shows a conversation. */
export type ConversationView = {
  /** An answer, in Markdown. */
  readonly onAnswer: (markdown: string) => void;
  /** The progress of a command, or a notice; never an answer. */
  readonly onProgress: (text: string) => void;
  /** The assistant's name, once connected. */
  readonly onWelcome?: (name: string) => void;
  /** The work that goes on now; null for none. */
  readonly onActivity: (activity: string | null) => void;
};

/** A shell's talk with the running assistant, in the owner's chat. */
export interface Conversation {
  /**
   * Says something, and resolves when it is answered.
   *
   * @throws CliError ASSISTANT_STOPPED when the assistant ends before, USAGE when it does not take the
   *   text, INTERRUPTED
   */
  say(text: string): Promise<void>;
  /** Shows from now on also messages that answer nothing said here. */
  watch(): void;
  /** Resolves when the assistant has ended, or the conversation was left. */
  readonly ended: Promise<void>;
  leave(): void;
}

/** Talks to the assistant that runs on a data folder; null when none does. */
export async function openConversation(
  dataDir: string,
  view: ConversationView,
  signal: AbortSignal,
): Promise<Conversation | null> {
  const { promise: ended, resolve: onEnd } = Promise.withResolvers<void>();
  let onAcknowledged: (() => void) | null = null;
  let refusal: string | null = null;

  function onMessage(message: AssistantMessage): void {
    switch (message.kind) {
      case 'answer':
        view.onAnswer(message.text);
        return;
      case 'progress':
      case 'notice':
        view.onProgress(message.text);
        return;
      case 'refused':
        refusal = message.message;
        return;
      case 'activity':
        view.onActivity(message.text);
        return;
      case 'acknowledged':
        onAcknowledged?.();
        return;
      case 'welcome':
        view.onWelcome?.(message.name);
        return;
    }
  }

  const control = await connectControl(dataDir, { onMessage, onEnd });
  if (control === null) return null;
  signal.addEventListener('abort', control.close);
  return {
    async say(text) {
      const { promise: acknowledged, resolve } = Promise.withResolvers<true>();
      onAcknowledged = () => resolve(true);
      control.send({ kind: 'say', text });
      const isAcknowledged = await Promise.race([acknowledged, ended.then(() => false)]);
      if (isAcknowledged) return;
      throw refusal === null ? unanswered(signal) : new ClawError('USAGE', refusal);
    },
    watch: () => control.send({ kind: 'watch' }),
    ended,
    leave: control.close,
  };
}

function unanswered({ aborted }: AbortSignal): CommandError {
  return aborted
    ? new ClawError(
        'INTERRUPTED',
        'Left before the answer. What was said is answered all the same, and shown in the assistant’s own terminal.',
      )
    : new CliError(
        'ASSISTANT_STOPPED',
        'The assistant ended before it answered. What it had stored is answered when it runs again: `claw start`.',
      );
}
