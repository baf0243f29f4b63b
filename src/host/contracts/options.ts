import type { Loopback } from '../../http/route.ts';
import type { NamedContribution, SilentContribution } from '../../lib/contribution.ts';
import type { OwnDatabases } from '../../lib/own-database.ts';
import type { Signal } from '../../lib/signal.ts';
import type { Catalog } from '../../model/catalog/catalog.ts';
import type { HostModels } from '../../model/model.ts';
import type { ChooseModels } from '../../model/routing.ts';
import type { InboundFilters } from '../inbound-path/filters.ts';
import type { LazySandbox } from '../turns/agent/lazy-sandbox.ts';
import type { SystemPrompt } from '../turns/agent/system-prompt.ts';
import type { Guards } from '../turns/tool-calls/guarded-calls.ts';
import type { Toolbox } from '../turns/tool-calls/toolbox.ts';
import type { Claw, ClawReader } from './claw.ts';
import type { Command, KnownEngine, SilentPart } from './command.ts';
import type { Git } from './git.ts';
import type { Ports, Timeouts } from './ports.ts';
import type { StartService } from './service.ts';

/** Everything the host works with. It reads no environment, no clock and no id on its own. */
export type HostOptions = Ports & {
  readonly version: string;
  /** Channels of this tree that stay silent, and the settings that each of them needs. */
  readonly silentChannels?: readonly SilentContribution[];
  /** Other contributions of this tree that stay silent. */
  readonly silentParts?: readonly SilentPart[];
  readonly commands: readonly Command[];
  readonly tools: Toolbox;
  /** Names of the tools that agents have in their container. */
  readonly ownTools: readonly string[];
  readonly guards: Guards;
  readonly filters: InboundFilters;
  /** The model of the settings: its name, and whether it can be asked. */
  readonly models: HostModels;
  /** The models that servers list. */
  readonly catalog: Catalog;
  /** Engines that can run agents here, best first. */
  readonly engines: readonly KnownEngine[];
  readonly chooseModels: ChooseModels;
  readonly systemPrompt: SystemPrompt;
  readonly services: readonly NamedContribution<StartService>[];
  /** The HTTP server for routes of services; it is off until one registers a route. */
  readonly http: Loopback;
  /** Databases of services; the caller closes them after the host has stopped. */
  readonly databases: OwnDatabases;
  readonly sandbox: LazySandbox;
  readonly claw: Claw;
  /** Reads the engine's state, for services. */
  readonly clawReader: ClawReader;
  readonly git: Git;
  /** True if the terminal draws a block of the kind `qr` as a code. */
  readonly drawsCodes: boolean;
  readonly isSet: (setting: string) => boolean;
  /** Says what is wrong with the settings as the next start would read them; null if nothing is. */
  readonly settingsProblem: () => string | null;
  /** A problem that the owner has to know of at the start, in their own chats; null for none. */
  readonly trouble: string | null;
  /** The composition in the tree before this process began to load; null for the present one. */
  readonly composition: string | null;
  /** Emits each line of the log, with its secrets blanked out; without it nobody can watch the log. */
  readonly logLines?: Pick<Signal<string>, 'on'>;
  /** Asks for a new process on the tree as it is now. */
  readonly requestRestart: () => void;
};

export const DEFAULT_TIMEOUTS: Timeouts = {
  leaseMs: 60_000,
  connectTimeoutMs: 20_000,
  sendTimeoutMs: 60_000,
  retryMs: 1_000,
  typingMs: 3_000,
  progressMs: 1_000,
  activityMs: 20_000,
  consentMs: 600_000,
  toolsMs: 20_000,
  flushMs: 1_500,
  closeMs: 1_500,
};
