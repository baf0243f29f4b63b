import type { Group, Limits, Spending } from '../../store/store.ts';
import type { ClockPort, IdPort, StorePort } from '../contracts/ports.ts';
import { shareUsed, spentOf } from './amount.ts';

/** From here on the owner is told that a budget goes to its end. */
const NEAR = 0.8;

/** Marks notices about all folders together; no folder can have this name. */
export const ALL = '';

export interface Notices {
  /** Tells the owner, once a day each, that a budget is nearly or fully used. */
  tell(
    folder: string,
    day: string,
    state: { readonly spent: Spending; readonly limits: Limits },
  ): void;
  /** Tells a chat, once a day, that it is answered no more. */
  sayPaused(group: Group, day: string): void;
}

export type NoticeOptions = StorePort &
  IdPort &
  ClockPort & {
    readonly queue: (text: string) => void;
  };

/**
 * Opens the notices about budgets: each is sent once a day, also across a restart, since it is noted in the
 * transaction that queues it.
 */
export function noticesOf({ store, newId, now, queue }: NoticeOptions): Notices {
  return {
    tell(folder, day, { spent, limits }) {
      const share = shareUsed(spent, limits);
      if (share < NEAR) return;
      store.transaction(() => {
        if (!store.budgets.notice(folder, day, share < 1 ? 'near' : 'spent')) return;
        // After "used up" the notice "nearly used up" would only confuse.
        if (share >= 1) store.budgets.notice(folder, day, 'near');
        queue(
          share < 1
            ? nearText(whoseBudget(folder), spentOf(spent, limits))
            : spentText(folder, spent, limits),
        );
      });
    },
    sayPaused({ folder, jid, isMain }, day) {
      store.transaction(() => {
        // A chat that was unregistered in the meantime is told nothing.
        if (store.groups.byJid(jid) === null) return;
        if (!store.budgets.notice(folder, day, 'paused')) return;
        const text = isMain ? OWNER_PAUSED : PAUSED;
        store.outbox.add({ messageId: newId(), jid, text }, now());
      });
    },
  };

  function whoseBudget(folder: string): string {
    if (folder === ALL) return 'all chats together';
    const group = store.groups.byFolder(folder);
    return group?.isMain ? 'your own chats' : (group?.name ?? folder);
  }

  function spentText(folder: string, spent: Spending, limits: Limits): string {
    const head = `Today’s budget of ${whoseBudget(folder)} is used up: ${spentOf(spent, limits)}.`;
    return folder === ALL
      ? `${head} No message is answered before midnight. BUDGET_TOTAL_USD in .env sets the limit; say \`/restart\` after changing it.`
      : `${head} It is answered again after midnight, or at once when you allow more: \`/budget ${folder} ${doubled(spent, limits)}\`.`;
  }
}

/** Twice the limit that was reached, as `/budget` takes it. */
function doubled(spent: Spending, { microUsd, tokens }: Limits): string {
  if (tokens !== null && spent.tokens >= tokens) return `${Math.max(1, tokens * 2)} tokens`;
  return `${Math.max(1, Math.ceil(((microUsd ?? 0) * 2) / 1_000_000))} usd`;
}

const PAUSED = 'I have used up what I may spend today; I’m back after midnight.';

/** The owner's message in place of an answer. */
export const OWNER_PAUSED = `${PAUSED} \`/budget\` shows what was spent, and allows more.`;

function nearText(whose: string, amount: string): string {
  return `Today’s budget of ${whose} is nearly used up: ${amount}. \`/budget\` shows all, and allows more.`;
}
