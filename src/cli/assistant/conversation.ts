import { ClawError, CliError, type CommandError } from '@patchclaw/claw/cli';
import type { AnswerEnd } from '../../lib/answer-end.ts';
import type { GrowingText } from '../../supervisor/console/live-markdown.ts';
import { connectControl } from '../../supervisor/control/client.ts';
import type { AssistantMessage } from '../../supervisor/control/messages.ts';

/** Callbacks through which a shell shows a conversation. */
export type ConversationView = {
  /** An answer, in Markdown. `replaces` names what was growing, and is whole now. */
  readonly onAnswer: (markdown: string, replaces: string | null) => void;
  /** An answer that is being written; null where it will not go on. */
  readonly onGrowing?: (piece: GrowingText | null) => void;
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
  /**
   * Says something, and resolves when the next thing may be said: it is answered, or work on it asks a question.
   *
   * @throws as `say`
   */
  tell(text: string): Promise<void>;
  /**
   * Resolves when work on all that was said has ended, with the end of the last that has no answer, or `answered`;
   * throws as `say`.
   */
  answered(): Promise<AnswerEnd>;
  /** Resolves with what the beginning of a command can become; with nothing where the assistant cannot tell. */
  complete(typed: string): Promise<readonly string[]>;
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
  let state: 'waiting' | 'asked' | 'answered' = 'answered';
  let end: AnswerEnd = 'answered';
  let wake: (() => void) | null = null;
  let refusal: string | null = null;
  let completes = false;
  const completing = new Map<number, (lines: readonly string[]) => void>();
  let completionCount = 0;

  function onMessage(message: AssistantMessage): void {
    switch (message.kind) {
      case 'answer':
        view.onAnswer(message.text, message.replaces ?? null);
        return;
      case 'growing':
        view.onGrowing?.(message);
        return;
      case 'dropped':
        view.onGrowing?.(null);
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
      case 'asking':
        state = 'asked';
        wake?.();
        return;
      case 'acknowledged':
        state = 'answered';
        if (message.end !== 'answered') end = message.end;
        wake?.();
        return;
      case 'welcome':
        completes = message.completes;
        view.onWelcome?.(message.name);
        return;
      case 'completions':
        completing.get(message.id)?.(message.lines);
        completing.delete(message.id);
        return;
    }
  }

  const control = await connectControl(dataDir, { onMessage, onEnd });
  if (control === null) return null;
  signal.addEventListener('abort', control.close);
  async function until(isEnough: () => boolean): Promise<void> {
    while (!isEnough()) {
      const { promise: changed, resolve } = Promise.withResolvers<true>();
      wake = () => resolve(true);
      if (await Promise.race([changed, ended.then(() => false)])) continue;
      throw refusal === null ? unanswered(signal) : new ClawError('USAGE', refusal);
    }
  }

  function send(text: string): void {
    state = 'waiting';
    control?.send({ kind: 'say', text });
  }

  async function answered(): Promise<AnswerEnd> {
    await until(() => state === 'answered');
    return end;
  }
  return {
    async say(text) {
      send(text);
      await answered();
    },
    async tell(text) {
      send(text);
      await until(() => state !== 'waiting');
    },
    answered,
    async complete(typed) {
      if (!completes) return [];
      completionCount += 1;
      const { promise, resolve } = Promise.withResolvers<readonly string[]>();
      completing.set(completionCount, resolve);
      control.send({ kind: 'complete', id: completionCount, typed });
      return await Promise.race([promise, ended.then(() => [])]);
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
        'The assistant ended before it answered. What it had stored is answered when it runs again: `npx claw start`.',
      );
}
