import type { Channel } from '../../channels/channel.ts';
import type { Settings } from '../../config.ts';
import type { Loopback } from '../../http/route.ts';
import type { Named, Silent } from '../../lib/contribution.ts';
import type { HostModels } from '../../model/model.ts';
import type { ChooseModels } from '../../model/routing.ts';
import type { Store } from '../../store/store.ts';
import type { SetTimer } from '../scheduler/alarm.ts';
import type { Guards } from '../turns/guarded-calls.ts';
import type { LazySandbox } from '../turns/lazy-sandbox.ts';
import type { SystemPrompt } from '../turns/system-prompt.ts';
import type { Toolbox } from '../turns/toolbox.ts';
import type { Claw } from './claw.ts';
import type { Command } from './command.ts';
import type { Git } from './git.ts';
import type { HostLog } from './log.ts';
import type { StartService } from './service.ts';

/** Everything the host works with. It reads no environment, no clock and no id on its own. */
export type HostOptions = {
  readonly projectDir: string;
  readonly version: string;
  readonly settings: Settings;
  readonly store: Store;
  readonly channels: readonly Channel[];
  /** Channels of this tree that stay silent, and the settings that each of them needs. */
  readonly silentChannels?: readonly Silent[];
  /** Other contributions of this tree that stay silent. */
  readonly silentParts?: readonly SilentPart[];
  readonly commands: readonly Command[];
  readonly tools: Toolbox;
  readonly guards: Guards;
  /** The model of the settings: its name, and whether it can be asked. */
  readonly models: HostModels;
  readonly chooseModels: ChooseModels;
  readonly systemPrompt: SystemPrompt;
  readonly services: readonly Named<StartService>[];
  /** Where services register their routes; it is off until one does. */
  readonly http: Loopback;
  readonly sandbox: LazySandbox;
  readonly claw: Claw;
  readonly git: Git;
  /** The owner's own chat, registered as the main group. */
  readonly mainChat: { readonly jid: string; readonly name: string };
  /** Names this process in leases; no other process ever has the same. */
  readonly instance: string;
  readonly now: () => number;
  readonly setTimer: SetTimer;
  readonly newId: () => string;
  readonly timeZone: string;
  /** Whether the terminal draws a block of the kind `qr` as a code. */
  readonly drawsCodes: boolean;
  readonly isSet: (setting: string) => boolean;
  /** Says what is wrong with the settings as the next start would read them; null when nothing is. */
  readonly settingsProblem: () => string | null;
  /** What the owner has to know at the start, in their own chats; null for nothing. */
  readonly trouble: string | null;
  readonly log: HostLog;
  /** Asks for a new process on the tree as it is now. */
  readonly requestRestart: () => void;
  readonly timeouts: Timeouts;
};

/** A tool or the like that stays silent: its kind is a word for the owner. */
export type SilentPart = Silent & {
  readonly kind: string;
  /** What that means; `off` by default. */
  readonly effect?: string;
};

/** How fast the host does what it repeats, in milliseconds. */
export type Timeouts = {
  readonly leaseMs: number;
  readonly connectTimeoutMs: number;
  readonly sendTimeoutMs: number;
  /** Before the first repeat of a send; doubled each time, up to a minute. */
  readonly retryMs: number;
  readonly typingMs: number;
  readonly progressMs: number;
  /** How long the owner may think about what an agent asks in the middle of a turn. */
  readonly consentMs: number;
  /** When the assistant ends: for messages on their way out, and then for channels and containers. */
  readonly flushMs: number;
  readonly closeMs: number;
};

export const DEFAULT_TIMEOUTS: Timeouts = {
  leaseMs: 60_000,
  connectTimeoutMs: 20_000,
  sendTimeoutMs: 60_000,
  retryMs: 1_000,
  typingMs: 4_000,
  progressMs: 1_000,
  consentMs: 600_000,
  flushMs: 1_500,
  closeMs: 1_500,
};
