import type { Channel, ChannelContext, ChannelDefinition } from './channel.ts';

/** The channels that have what they need, and those that stay silent for want of a setting. */
export type OpenChannels = {
  readonly channels: readonly Channel[];
  readonly silentChannels: readonly { readonly name: string; readonly needs: readonly string[] }[];
};

export function openChannels(
  definitions: readonly ChannelDefinition[],
  context: ChannelContext,
): OpenChannels {
  const made = definitions.map((definition) => ({
    definition,
    channel: definition.create(context),
  }));
  return {
    channels: made.map(({ channel }) => channel).filter((channel) => channel !== null),
    silentChannels: made
      .filter(({ channel }) => channel === null)
      .map(({ definition: { name, needs = [] } }) => ({ name, needs })),
  };
}
