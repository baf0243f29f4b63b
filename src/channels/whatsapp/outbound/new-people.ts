import { type ChannelClock, LaterDelivery } from '../../channel.ts';
import type { Sent } from './sent.ts';

const DAY_MS = 86_400_000;

type Parts = {
  readonly sent: Sent;
  readonly clock: ChannelClock;
  readonly pace: { readonly newChatsADay: number };
  readonly isSelf: (jid: string) => boolean;
};

/**
 * Lets only so many people a day have their first message: an account that begins to write to many is taken for an
 * advertiser's.
 *
 * @throws LaterDelivery where this one has to wait
 */
export function checkNewPerson({ sent, clock, pace, isSelf }: Parts, jid: string): void {
  if (jid.endsWith('@g.us') || isSelf(jid) || sent.isKnown(jid)) return;
  const writtenAt = sent.firstWrittenTo(pace.newChatsADay);
  if (writtenAt === null || writtenAt + DAY_MS <= clock.now()) return;
  throw new LaterDelivery(
    `${pace.newChatsADay} people who are new were written to within a day, and WhatsApp may block an account that writes to more.`,
    writtenAt + DAY_MS,
  );
}
