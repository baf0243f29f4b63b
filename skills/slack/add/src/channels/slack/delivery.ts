import type { webApi } from '@slack/bolt';
import type { ChannelClock } from '../channel.ts';
import { PartDelivery } from '../kit/part-delivery.ts';
import { explainSendFailure, readFailure, SlackError } from './failure.ts';
import { formatParts } from './format.ts';
import { channelIdOf } from './jid.ts';
import { type SlackPart, withButtons } from './press.ts';

/** Sends messages through an app. What fails is a SlackError, or an UnknownDelivery. */
export function createDelivery(
  web: webApi.WebClient,
  clock: ChannelClock,
): PartDelivery<SlackPart> {
  return new PartDelivery<SlackPart>({
    partsOf: ({ jid, text, choices }) => {
      channelIn(jid);
      return withButtons(formatParts(text), choices);
    },
    send: async ({ jid }, { text, blocks }) => {
      // A preview would make Slack fetch an address that the model chose.
      const quietly = { unfurl_links: false, unfurl_media: false };
      const shown = blocks === undefined ? { text } : { text, blocks: [...blocks] };
      await web.chat.postMessage({ channel: channelIn(jid), ...shown, ...quietly });
    },
    pauseMs: (error) => {
      const failure = readFailure(error);
      return failure.kind === 'rate-limited' ? failure.waitMs : null;
    },
    pause: clock.pause,
    explain: (error) => (error instanceof SlackError ? error : explainSendFailure(error)),
  });
}

/** @throws SlackError JID_INVALID */
function channelIn(jid: string): string {
  const channel = channelIdOf(jid);
  if (channel === null) throw new SlackError('JID_INVALID', `${jid} is not a channel of Slack.`);
  return channel;
}
