import type { Channel } from '../../channels/channel.ts';
import type { Settings } from '../../config.ts';
import type { Store } from '../../store/store.ts';
import type { SetTimer } from '../scheduler/alarm.ts';
import type { HostLog } from './log.ts';

// Ways of the host to what is around it. A part of the host names the ports that it uses, so that its type says
// what it can touch. Ports travel as one object: `{ ...ports, … }`, narrowed by the type of the part that gets them.

/** The database. */
export type StorePort = { readonly store: Store };

export type SettingsPort = { readonly settings: Settings };

export type ChannelsPort = { readonly channels: readonly Channel[] };

/** The folder of the code, in which groups have theirs. */
export type ProjectPort = { readonly projectDir: string };

/** The owner's own chat, registered as the main group. */
export type MainChatPort = { readonly mainChat: { readonly jid: string; readonly name: string } };

/** Names this process in leases; no other process ever has the same. */
export type InstancePort = { readonly instance: string };

/** The time, in milliseconds. */
export type ClockPort = { readonly now: () => number };

export type TimerPort = { readonly setTimer: SetTimer };

export type TimeZonePort = { readonly timeZone: string };

/** Makes an id that nothing else has. */
export type IdPort = { readonly newId: () => string };

export type LogPort = { readonly log: HostLog };

export type TimeoutsPort = { readonly timeouts: Timeouts };

/** All of them as one object, for a part that only hands them on. */
export type Ports = StorePort &
  SettingsPort &
  ChannelsPort &
  ProjectPort &
  MainChatPort &
  InstancePort &
  ClockPort &
  TimerPort &
  TimeZonePort &
  IdPort &
  LogPort &
  TimeoutsPort;

/** Picks the ports out of all that the host was given. */
export function portsOf({
  store,
  settings,
  channels,
  projectDir,
  mainChat,
  instance,
  now,
  setTimer,
  timeZone,
  newId,
  log,
  timeouts,
}: Ports): Ports {
  return {
    store,
    settings,
    channels,
    projectDir,
    mainChat,
    instance,
    now,
    setTimer,
    timeZone,
    newId,
    log,
    timeouts,
  };
}

/** Intervals and limits of the host's repeated work, in milliseconds. */
export type Timeouts = {
  readonly leaseMs: number;
  readonly connectTimeoutMs: number;
  readonly sendTimeoutMs: number;
  /** Before the first repeat of a send; doubled each time, up to a minute. */
  readonly retryMs: number;
  readonly typingMs: number;
  readonly progressMs: number;
  /** A turn that takes longer says what it does. */
  readonly activityMs: number;
  /** The owner's time to answer an agent's question in the middle of a turn. */
  readonly consentMs: number;
  /** The longest that a turn waits for services that still find out what tools they have. */
  readonly toolsMs: number;
  /** Time at the assistant's end for messages on their way out, and then for channels and containers. */
  readonly flushMs: number;
  readonly closeMs: number;
};
