import type { ChannelDefinition } from './channels/channel.ts';
import { discoverChannels } from './channels/discover.ts';
import { type CommandContribution, discoverCommands } from './host/contracts/command.ts';
import { discoverGuards, type GuardContribution } from './host/contracts/guard.ts';
import {
  discoverPromptSections,
  type PromptContribution,
} from './host/contracts/prompt-section.ts';
import { discoverServices, type ServiceContribution } from './host/contracts/service.ts';
import { discoverTools, type ToolContribution } from './host/contracts/tool.ts';

/** All of this tree that has settings of its own, kind by kind. */
export type Contributions = {
  readonly channels: readonly ChannelDefinition[];
  readonly commands: readonly CommandContribution[];
  readonly guards: readonly GuardContribution[];
  readonly sections: readonly PromptContribution[];
  readonly services: readonly ServiceContribution[];
  readonly tools: readonly ToolContribution[];
};

/** Finds the contributions of this tree, each kind in its folder. */
export async function discoverContributions(): Promise<Contributions> {
  const [channels, commands, guards, sections, services, tools] = await Promise.all([
    discoverChannels(),
    discoverCommands(),
    discoverGuards(),
    discoverPromptSections(),
    discoverServices(),
    discoverTools(),
  ]);
  return { channels, commands, guards, sections, services, tools };
}
