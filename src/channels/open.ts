import { openContributions, type Silent } from '../lib/contribution.ts';
import type { Environment } from '../lib/settings.ts';
import type { Channel, ChannelContext, ChannelDefinition } from './channel.ts';

/** The channels that have what they need, and those that stay silent. */
export type OpenChannels = {
  readonly channels: readonly Channel[];
  readonly silentChannels: readonly Silent[];
};

/**
 * Opens the channels of this tree, each with its own settings. One whose settings cannot be used stays
 * silent, because a default might let other people in; the others are not touched by that.
 */
export function openChannels(
  definitions: readonly ChannelDefinition[],
  environment: Environment,
  { assistantName, dataDir, log, ownerConsole }: ChannelContext,
): OpenChannels {
  const contextOf = () => ({ assistantName, dataDir, log, ownerConsole });
  const { made, silent } = openContributions(definitions, environment, contextOf);
  return { channels: made.map(({ value }) => value), silentChannels: silent };
}
