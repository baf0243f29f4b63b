import { contributionSchema } from '../lib/contribution.ts';
import { discoverExports } from '../lib/discover.ts';
import type { ChannelDefinition } from './channel.ts';

const Definition = contributionSchema<ChannelDefinition>(
  'defineChannel({ name, settings, create })',
);

/** Returns every channel of this tree: of the files of this folder that export a `channel`. */
export function discoverChannels(
  folder: string = import.meta.dirname,
): Promise<readonly ChannelDefinition[]> {
  return discoverExports(folder, 'channel', Definition);
}
