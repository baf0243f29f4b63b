import type { ChannelDefinition } from './channels/channel.ts';
import { discoverChannels } from './channels/channels.ts';
import { type CommandContribution, discoverCommands } from './host/contracts/command.ts';
import { discoverGuards, type GuardContribution } from './host/contracts/guard.ts';
import {
  discoverInboundFilters,
  type InboundFilterContribution,
} from './host/contracts/inbound-filter.ts';
import {
  discoverPromptSections,
  type PromptContribution,
} from './host/contracts/prompt-section.ts';
import { discoverServices, type ServiceContribution } from './host/contracts/service.ts';
import { discoverTools, type ToolContribution } from './host/contracts/tool.ts';
import type { Environment } from './lib/settings.ts';
import {
  discoverProviders,
  modelSetting,
  type ProviderContribution,
  withOwnPrefixes,
} from './model/provider.ts';
import { discoverRouters, type RouterContribution } from './model/router.ts';
import {
  discoverEngines,
  type EngineContribution,
  engineSetting,
} from './sandbox/engines/engine.ts';
import { discoverMachines, type MachinesContribution } from './sandbox/machines/machines.ts';
import type { WithSettings } from './wrong-settings.ts';

/** All of this tree that has settings of its own, kind by kind. */
export type Contributions = {
  readonly channels: readonly ChannelDefinition[];
  readonly commands: readonly CommandContribution[];
  readonly engines: readonly EngineContribution[];
  readonly filters: readonly InboundFilterContribution[];
  readonly guards: readonly GuardContribution[];
  readonly machines: readonly MachinesContribution[];
  readonly providers: readonly ProviderContribution[];
  readonly routers: readonly RouterContribution[];
  readonly sections: readonly PromptContribution[];
  readonly services: readonly ServiceContribution[];
  readonly tools: readonly ToolContribution[];
};

/** Finds the contributions of this tree, each kind in its folder. */
export async function discoverContributions(): Promise<Contributions> {
  const [
    channels,
    commands,
    engines,
    filters,
    guards,
    machines,
    providers,
    routers,
    sections,
    services,
    tools,
  ] = await Promise.all([
    discoverChannels(),
    discoverCommands(),
    discoverEngines(),
    discoverInboundFilters(),
    discoverGuards(),
    discoverMachines(),
    discoverProviders(),
    discoverRouters(),
    discoverPromptSections(),
    discoverServices(),
    discoverTools(),
  ]);
  return {
    channels,
    commands,
    engines,
    filters,
    guards,
    machines,
    providers,
    routers,
    sections,
    services,
    tools,
  };
}

/**
 * Returns settings of the core that take names of contributions: what the owner may write there is known
 * only with these.
 */
export function choicesOf(
  { engines, providers }: Pick<Contributions, 'engines' | 'providers'>,
  environment: Environment,
): readonly WithSettings[] {
  return [
    { name: 'model', settings: modelSetting(withOwnPrefixes(providers, environment)) },
    { name: 'sandbox', settings: engineSetting(engines) },
  ];
}

/** Leaves out what reaches others by itself: every channel but the terminal, and what works in the background. */
export function withoutOutside(contributions: Contributions): Contributions {
  const channels = contributions.channels.filter(({ name }) => name === 'terminal');
  return { ...contributions, channels, machines: [], services: [] };
}
