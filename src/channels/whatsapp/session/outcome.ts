import { z } from 'zod';
import type { ChannelStatus } from '../../channel.ts';

/** Why a connection ended, and what follows. */
export type Outcome =
  | { readonly kind: 'restart' }
  | { readonly kind: 'retry'; readonly detail: string; readonly isSlow: boolean }
  | { readonly kind: 'stale' }
  | { readonly kind: 'removed' }
  | { readonly kind: 'refused'; readonly detail: string };

/** The shape of the errors that Baileys ends a connection with. */
const Ended = z.looseObject({
  output: z.looseObject({ statusCode: z.number() }),
  data: z.unknown(),
});

/** What follows from the error that a connection ended with; the numbers are WhatsApp's. */
export function outcomeOf(error: unknown): Outcome {
  const ended = Ended.safeParse(error).data;
  // An HTTP status in front of WhatsApp is somebody else's word: a proxy's, a hotel's.
  if (ended === undefined || ended.data instanceof Error) return unreachable;
  switch (ended.output.statusCode) {
    case 515:
      return { kind: 'restart' };
    case 401:
      return { kind: 'removed' };
    case 405:
      return { kind: 'stale' };
    case 403:
      return {
        kind: 'refused',
        detail: 'WhatsApp has blocked this account. Open WhatsApp on the phone to see why.',
      };
    case 411:
      return {
        kind: 'refused',
        detail: 'This account cannot have linked devices. Update WhatsApp on the phone.',
      };
    case 440:
      return {
        kind: 'retry',
        detail: 'Another program uses the same pairing. Stop it. Trying again.',
        isSlow: true,
      };
    default:
      return unreachable;
  }
}

const unreachable: Outcome = {
  kind: 'retry',
  detail: 'WhatsApp cannot be reached. Trying again.',
  isSlow: false,
};

/** What the owner is told when the device was removed. */
export const REMOVED: ChannelStatus = {
  state: 'unpaired',
  detail:
    'WhatsApp has removed this device. Pair it again: say `/pair`, or run `npx claw setup whatsapp`.',
};

/** What the owner is told when there has been no pairing. */
export const UNPAIRED: ChannelStatus = {
  state: 'unpaired',
  detail: 'Not paired: `/pair` or `npx claw setup whatsapp` links it to your phone.',
};
