import type { ReactionTypeEmoji } from 'grammy/types';
import type { Api } from 'grammy/web';
import type { OutboundDraft } from '../channel.ts';
import { chatIdOf } from './jid.ts';
import { forGrammy } from './signal.ts';

/** Emojis that Telegram takes from bots; ✅ is none of them. */
const AT_WORK = '👀';
const DONE = '👌';

/** The bot at this moment; null while it is not connected. */
type Bot = { readonly api: Api; readonly signal: AbortSignal } | null;

/**
 * Marks a message on which the assistant works for long: with 👀 while it does, and with 👌 once it is answered.
 * Quick answers have no mark. What Telegram refuses is left out: a group decides which emojis it takes.
 */
export class LongWork {
  readonly #bot: () => Bot;
  /** The last request for each message that has a mark, by chat and id. */
  readonly #marked = new Map<string, Promise<void>>();

  constructor(bot: () => Bot) {
    this.#bot = bot;
  }

  /** Looks at a step of an answer: one that says what is done meanwhile is of long work. */
  shown({ jid, answersTo = [], activity }: OutboundDraft): void {
    const id = answersTo.at(-1);
    if (activity === null || id === undefined) return;
    const key = `${jid} ${id}`;
    if (!this.#marked.has(key)) this.#marked.set(key, this.#put(jid, id, AT_WORK));
  }

  /** These messages are answered. */
  answered(jid: string, ids: readonly string[]): void {
    for (const id of ids) {
      const key = `${jid} ${id}`;
      const marking = this.#marked.get(key);
      this.#marked.delete(key);
      void marking?.then(() => this.#put(jid, id, DONE));
    }
  }

  async #put(jid: string, id: string, emoji: ReactionTypeEmoji['emoji']): Promise<void> {
    const bot = this.#bot();
    const chatId = chatIdOf(jid);
    if (bot === null || chatId === null) return;
    const reaction = [{ type: 'emoji', emoji }] as const;
    try {
      const { api, signal } = bot;
      await api.setMessageReaction(chatId, Number(id), [...reaction], {}, forGrammy(signal));
    } catch {
      // The mark is an extra: the message may be deleted, or the group without reactions.
    }
  }
}
