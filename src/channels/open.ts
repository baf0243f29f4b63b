import type { Channel, ChannelContext, ChannelDefinition } from './channel.ts';

/** The channels that have what they need, and those that stay silent for want of a setting. */
export type OpenChannels = {
  readonly channels: readonly Channel[];
  readonly silentChannels: readonly { readonly name: string; readonly needs: readonly string[] }[];
};

/**
 * Opens the channels of this tree.
 *
 * @param wrong settings that could not be read: a channel that one is named after (`TELEGRAM_…` for
 *   telegram) stays silent, because its default may let other people in
 */
export function openChannels(
  definitions: readonly ChannelDefinition[],
  context: ChannelContext,
  wrong: readonly string[] = [],
): OpenChannels {
  const isWrong = ({ name }: ChannelDefinition): boolean =>
    wrong.some((setting) => setting.startsWith(`${name.toUpperCase()}_`));
  const made = definitions.map((definition) => ({
    definition,
    channel: isWrong(definition) ? null : definition.create(context),
  }));
  return {
    channels: made.map(({ channel }) => channel).filter((channel) => channel !== null),
    silentChannels: made
      .filter(({ channel }) => channel === null)
      .map(({ definition: { name, needs = [] } }) => ({ name, needs })),
  };
}
