import type { ChannelDefinition } from './channels/channel.ts';
import { discoverChannels } from './channels/discover.ts';
import { type CommandContribution, discoverCommands } from './host/contracts/command.ts';
import { discoverTools, type ToolContribution } from './host/contracts/tool.ts';

/** All of this tree that has settings of its own, kind by kind. */
export type Contributions = {
  readonly channels: readonly ChannelDefinition[];
  readonly commands: readonly CommandContribution[];
  readonly tools: readonly ToolContribution[];
};

/** Finds the contributions of this tree, each kind in its folder. */
export async function discoverContributions(): Promise<Contributions> {
  const [channels, commands, tools] = await Promise.all([
    discoverChannels(),
    discoverCommands(),
    discoverTools(),
  ]);
  return { channels, commands, tools };
}
