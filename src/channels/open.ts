import type { Environment, WrongSetting } from '../lib/settings.ts';
import type { Channel, ChannelContext, ChannelDefinition } from './channel.ts';

/** A channel of this tree that stays silent, and why. */
export type SilentChannel = {
  readonly name: string;
  /** The settings that it needs. */
  readonly needs: readonly string[];
  /** Settings of its own that cannot be used. */
  readonly wrong: readonly WrongSetting[];
};

/** The channels that have what they need, and those that stay silent. */
export type OpenChannels = {
  readonly channels: readonly Channel[];
  readonly silentChannels: readonly SilentChannel[];
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
  const opened = definitions.map((definition) => ({
    definition,
    outcome: definition.open(environment, { assistantName, dataDir, log, ownerConsole }),
  }));
  return {
    channels: opened.flatMap(({ outcome }) =>
      outcome.kind === 'made' && outcome.value !== null ? [outcome.value] : [],
    ),
    silentChannels: opened.flatMap(({ definition: { name, needs }, outcome }) => {
      if (outcome.kind === 'wrong-settings') return [{ name, needs, wrong: outcome.wrong }];
      return outcome.value === null ? [{ name, needs, wrong: [] }] : [];
    }),
  };
}
