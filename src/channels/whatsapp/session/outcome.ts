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

/** Returns the next step after the error that ended a connection; the numbers are WhatsApp's. */
export function outcomeOf(error: unknown): Outcome {
  const ended = Ended.safeParse(error).data;
  // An HTTP status before the WebSocket opens comes from a proxy or captive portal, not from WhatsApp: retry.
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

/** The status once the owner's phone has removed the device. */
export const REMOVED: ChannelStatus = {
  state: 'unpaired',
  detail:
    'WhatsApp has removed this device. Pair it again: say `/pair`, or run `npx claw setup whatsapp`.',
};

/** The status before the first pairing. */
export const UNPAIRED: ChannelStatus = {
  state: 'unpaired',
  detail: 'Not paired: `/pair` or `npx claw setup whatsapp` links it to your phone.',
};
