import { z } from 'zod';
import { discoverExports } from '../lib/discover.ts';
import type { ChannelDefinition } from './channel.ts';

const Definition = z.custom<ChannelDefinition>(
  (value) =>
    z.looseObject({ name: z.string().min(1), open: z.function() }).safeParse(value).success,
  'must be made by defineChannel({ name, settings, create })',
);

/** Returns every channel of this tree: of the files of this folder that export a `channel`. */
export function discoverChannels(
  folder: string = import.meta.dirname,
): Promise<readonly ChannelDefinition[]> {
  return discoverExports(folder, 'channel', Definition);
}
