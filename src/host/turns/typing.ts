import type { Channel } from '../../channels/channel.ts';
import type { ChannelOf } from '../address-book.ts';

/** Shows in chats that the assistant is at work. */
export interface Typing {
  /** Shows it until the work ends; with several at once, until the last one does. */
  during<T>(jid: string, work: () => Promise<T>): Promise<T>;
}

/** @param everyMs how often it is shown again: channels let it fade by themselves */
export function openTyping(channelOf: ChannelOf, everyMs: number): Typing {
  const shown = new Map<string, { works: number; readonly timer: NodeJS.Timeout }>();

  function start(jid: string): void {
    const running = shown.get(jid);
    if (running !== undefined) {
      running.works += 1;
      return;
    }
    const channel = channelOf(jid);
    set(channel, jid, true);
    const timer = setInterval(() => set(channel, jid, true), everyMs);
    shown.set(jid, { works: 1, timer });
  }

  function end(jid: string): void {
    const running = shown.get(jid);
    if (running === undefined) return;
    running.works -= 1;
    if (running.works > 0) return;
    clearInterval(running.timer);
    shown.delete(jid);
    set(channelOf(jid), jid, false);
  }

  return {
    async during(jid, work) {
      start(jid);
      try {
        return await work();
      } finally {
        end(jid);
      }
    },
  };
}

function set(channel: Channel | undefined, jid: string, isTyping: boolean): void {
  // A failing indicator must not hold up the answer; a broken channel shows when the answer is sent.
  channel?.setTyping(jid, isTyping).catch(() => {});
}
