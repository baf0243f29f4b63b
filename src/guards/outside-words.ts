import { defineGuard, type Grant, type GuardedCall } from '../host/contracts/guard.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Asks before a turn of the owner's chats that has read words from outside acts on anything else than its own chat: such
 * words may be meant for the agent. Yeses that cover more end with their time, or with the assistant.
 */
export const guard = defineGuard({
  name: 'outside-words',
  order: 200,
  create({ now }) {
    const untilOf = new Map<string, number>();
    const grant = (key: string, forMs: number, words: Pick<Grant, 'word' | 'label'>): Grant => ({
      ...words,
      given: () => void untilOf.set(key, now() + forMs),
    });
    const isGiven = (key: string): boolean => (untilOf.get(key) ?? 0) > now();

    return {
      before({ group, turn, outside, elsewhere }: GuardedCall) {
        for (const [key, until] of untilOf) if (until <= now()) untilOf.delete(key);
        if (!group.isMain || outside === null || elsewhere === null) return { kind: 'allow' };
        const [ofTurn, ofChat] = [`turn ${turn}`, `chat ${elsewhere.key}`];
        if ([ofTurn, ofChat, EVERYTHING].some(isGiven)) return { kind: 'allow' };
        return {
          kind: 'ask',
          reason: `It acts on ${elsewhere.name}, and the agent has read words from outside (${outside}), which may have told it to.`,
          grants: [
            grant(ofTurn, DAY_MS, { word: 'turn', label: 'Yes, for all such calls of this turn' }),
            grant(ofChat, DAY_MS, {
              word: 'chat',
              label: `Yes, for ${elsewhere.name} today (24 hours)`,
            }),
            grant(EVERYTHING, HOUR_MS, {
              word: 'hour',
              label: 'Yes, for all such calls of the next hour',
            }),
          ],
        };
      },
    };
  },
});

const EVERYTHING = 'everything';
