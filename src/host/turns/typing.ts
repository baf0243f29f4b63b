import type { Channel } from '../../channels/channel.ts';

/** Shows in chats that the assistant is at work. */
export interface Typing {
  /** Shows it until the work ends; with several at once, until the last one does. */
  during<T>(chat: TypingChat, work: () => Promise<T>): Promise<T>;
}

/** A chat, and the channel that it is on, if there is one. */
export type TypingChat = { readonly jid: string; readonly channel: Channel | undefined };

/** @param everyMs how often it is shown again: channels let it fade by themselves */
export function openTyping(everyMs: number): Typing {
  const shown = new Map<string, { works: number; readonly timer: NodeJS.Timeout }>();

  function start({ jid, channel }: TypingChat): void {
    const running = shown.get(jid);
    if (running !== undefined) {
      running.works += 1;
      return;
    }
    set(channel, jid, true);
    const timer = setInterval(() => set(channel, jid, true), everyMs);
    shown.set(jid, { works: 1, timer });
  }

  function end({ jid, channel }: TypingChat): void {
    const running = shown.get(jid);
    if (running === undefined) return;
    running.works -= 1;
    if (running.works > 0) return;
    clearInterval(running.timer);
    shown.delete(jid);
    set(channel, jid, false);
  }

  return {
    async during(chat, work) {
      start(chat);
      try {
        return await work();
      } finally {
        end(chat);
      }
    },
  };
}

function set(channel: Channel | undefined, jid: string, isTyping: boolean): void {
  // A failing indicator must not hold up the answer; a broken channel shows when the answer is sent.
  channel?.setTyping(jid, isTyping).catch(() => {});
}
