import type { ChannelDefinition } from './channels/channel.ts';
import { discoverChannels } from './channels/discover.ts';
import { discoverTools, type ToolContribution } from './host/contracts/tool.ts';

/** All of this tree that has settings of its own, kind by kind. */
export type Contributions = {
  readonly channels: readonly ChannelDefinition[];
  readonly tools: readonly ToolContribution[];
};

/** Finds the contributions of this tree, each kind in its folder. */
export async function discoverContributions(): Promise<Contributions> {
  const [channels, tools] = await Promise.all([discoverChannels(), discoverTools()]);
  return { channels, tools };
}
