import { join } from 'node:path';
import type { Channel } from './channels/channel.ts';
import { openChannels } from './channels/channels.ts';
import type { ConsolePort } from './channels/console-port.ts';
import { pause } from './channels/kit/backoff.ts';
import type { Settings } from './config.ts';
import type { Contributions } from './contributions.ts';
import { type Command, openCommands, type SilentPart } from './host/contracts/command.ts';
import type { HostLog } from './host/contracts/log.ts';
import { inChats } from './host/contracts/match-command.ts';
import type { StartService } from './host/contracts/service.ts';
import { type InboundFilters, openInboundFilters } from './host/inbound-path/filters.ts';
import { openServices } from './host/services/services.ts';
import { openSystemPrompt, type SystemPrompt } from './host/turns/agent/system-prompt.ts';
import { effectOf, type Guards, openGuards } from './host/turns/tool-calls/guarded-calls.ts';
import { openTools, type Toolbox } from './host/turns/tool-calls/toolbox.ts';
import type { NamedContribution, SilentContribution } from './lib/contribution.ts';
import type { OwnDatabases } from './lib/own-database.ts';
import type { Environment } from './lib/settings.ts';
import { type Catalog, openCatalog } from './model/catalog/catalog.ts';
import { type Models, openModels } from './model/model.ts';
import { type ChooseModels, openRouting } from './model/routing.ts';

/** The contributions of this tree, opened: each has its own settings and a context of its own. */
export type Parts = {
  readonly channels: readonly Channel[];
  readonly commands: readonly Command[];
  readonly tools: Toolbox;
  readonly guards: Guards;
  readonly filters: InboundFilters;
  readonly models: Models;
  readonly catalog: Catalog;
  readonly chooseModels: ChooseModels;
  readonly systemPrompt: SystemPrompt;
  readonly services: readonly NamedContribution<StartService>[];
  readonly silentChannels: readonly SilentContribution[];
  readonly silentParts: readonly SilentPart[];
};

export type PartsOptions = {
  readonly contributions: Contributions;
  readonly environment: Environment;
  readonly settings: Settings;
  /** Absolute path of the project. */
  readonly projectDir: string;
  readonly timeZone: string;
  readonly databases: OwnDatabases;
  /** Returns `.env` and the environment over it as they are at that moment. */
  readonly currentEnvironment?: () => Environment;
  /** The model that the owner has chosen for the chats of a folder; none by default. */
  readonly chosenFor?: (folder: string) => string | null;
  readonly ownerConsole: ConsolePort | null;
  readonly log: HostLog;
  readonly now: () => number;
  readonly newId: () => string;
  /** A number from 0 up to 1. */
  readonly random: () => number;
};

/** Opens the contributions of this tree. One whose settings cannot be used stays silent. */
export function openParts(options: PartsOptions): Parts {
  const { contributions, environment, settings, timeZone, databases, ownerConsole } = options;
  const { log, now, newId, random } = options;
  const { assistantName, dataDir } = settings;
  const groupsDir = join(options.projectDir, 'groups');
  const { tools, ...hostTools } = openTools(
    contributions.tools,
    environment,
    { assistantName, dataDir, groupsDir, timeZone, log, now, newId },
    databases,
  );
  const promptContext = { assistantName, dataDir, timeZone, log };
  const prompt = openSystemPrompt(contributions.sections, environment, promptContext);
  const models = openModels(contributions.providers, environment, {
    settings,
    now,
    currentEnvironment: options.currentEnvironment,
  });
  const catalog = openCatalog({ models, now });
  const routing = openRouting(contributions.routers, environment, {
    models,
    log,
    now,
    chosenFor: options.chosenFor,
    catalog,
  });
  const guardContext = { dataDir, groupsDir, timeZone, log, now, newId };
  const guards = openGuards(contributions.guards, environment, guardContext);
  const inbound = openInboundFilters(
    contributions.filters,
    environment,
    { assistantName, dataDir, timeZone, log, now, newId },
    databases,
  );
  const services = openServices(contributions.services, environment);
  const commands = openCommands(contributions.commands, environment, databases);
  const clock = { now, random, pause };
  const channels = openChannels(
    contributions.channels,
    environment,
    { assistantName, dataDir, log, ownerConsole, clock, commands: commands.commands.map(inChats) },
    databases,
  );
  return {
    channels: channels.channels,
    commands: commands.commands,
    tools,
    guards: guards.guards,
    filters: inbound.filters,
    models,
    catalog,
    chooseModels: routing.chooseModels,
    systemPrompt: prompt.systemPrompt,
    services: services.services,
    silentChannels: channels.silentChannels,
    silentParts: [
      ...guards.silent.map((one) => ({ kind: 'guard', effect: effectOf(one), ...one })),
      ...inbound.silent.map((one) => ({ kind: 'inbound filter', ...one })),
      ...commands.silent.map((one) => ({ kind: 'command', ...one })),
      ...models.silent.map((one) => ({ kind: 'model provider', ...one })),
      ...routing.silent.map((one) => ({ kind: 'model router', ...one })),
      ...prompt.silent.map((one) => ({ kind: 'prompt section', ...one })),
      ...services.silent.map((one) => ({ kind: 'service', ...one })),
      ...hostTools.silent.map((one) => ({ kind: 'tool', ...one })),
    ],
  };
}

/** Names the parts that are off because of something on this machine, in sentences. */
export function unusableParts({
  silentParts,
  silentChannels,
}: Pick<Parts, 'silentParts' | 'silentChannels'>): readonly string[] {
  const all = [...silentParts, ...silentChannels.map((one) => ({ kind: 'channel', ...one }))];
  return all.flatMap(({ kind, name, unusable: reason }) =>
    reason === undefined ? [] : [`The ${kind} ${name} is off: ${reason}`],
  );
}
