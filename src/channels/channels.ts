import {
  contributionSchema,
  openContributions,
  type SilentContribution,
} from '../lib/contribution.ts';
import { discoverExports } from '../lib/discover.ts';
import { NO_DATABASES, type OwnDatabases } from '../lib/own-database.ts';
import type { Environment } from '../lib/settings.ts';
import type { Channel, ChannelContext, ChannelDefinition } from './channel.ts';

/** The channels that have what they need, and those that stay silent. */
export type OpenChannels = {
  readonly channels: readonly Channel[];
  readonly silentChannels: readonly SilentContribution[];
};

/**
 * Opens the channels of this tree, each with its own settings. One whose settings cannot be used stays
 * silent, because a default might let other people in; the others are not touched by that.
 *
 * @param databases without them, a channel that opens one stays silent
 */
export function openChannels(
  definitions: readonly ChannelDefinition[],
  environment: Environment,
  {
    assistantName,
    dataDir,
    log,
    ownerConsole,
    clock,
    commands = [],
  }: Omit<ChannelContext, 'openDatabase'>,
  databases: OwnDatabases = NO_DATABASES,
): OpenChannels {
  const contextOf = (name: string) => ({
    assistantName,
    dataDir,
    log,
    ownerConsole,
    clock,
    commands,
    openDatabase: databases.of('channel', name),
  });
  const { made, silent } = openContributions(definitions, environment, contextOf);
  return { channels: made.map(({ value }) => value), silentChannels: silent };
}

const Definition = contributionSchema<ChannelDefinition>(
  'defineChannel({ name, settings, create })',
);

/** Returns every channel of this tree: of the files of this folder that export a `channel`. */
export function discoverChannels(
  folder: string = import.meta.dirname,
): Promise<readonly ChannelDefinition[]> {
  return discoverExports(folder, 'channel', Definition);
}
