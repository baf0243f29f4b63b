import type { ChannelStatus } from '../channels/channel.ts';
import type { SilentContribution } from '../lib/contribution.ts';
import type { ChannelsPort, ClockPort, StorePort } from './contracts/ports.ts';
import { faultOf, hasSetUpStep, type SettingsPresence, whatIsMissing } from './silent-part.ts';

/** A channel of this tree as the owner is told of it. */
export type ChannelReport = {
  readonly name: string;
  /** `silent` for one that is not set up, or whose settings cannot be used. */
  readonly state: ChannelStatus['state'] | 'silent';
  /** What is wrong and what to do; null when nothing is, or `claw setup <name>` asks for all that is missing. */
  readonly detail: string | null;
  /** Since when it is connected or away, however often it has tried meanwhile; null before its first report. */
  readonly since: number | null;
  /** Whether `claw setup <name>` sets it up. */
  readonly hasSetUp: boolean;
  /** Whether `/pair <name>` links it. */
  readonly canPair: boolean;
  /** Registered chats. */
  readonly chats: number;
  /** When the newest message of a registered chat came; null for none. */
  readonly receivedAt: number | null;
  /** When the newest message that its far end has taken was written; null for none. */
  readonly sentAt: number | null;
};

/** What is known of all channels of this tree, for whoever shows them. */
export interface ChannelBoard {
  /** A channel has reported a state. */
  noted(channel: string, status: ChannelStatus): void;
  report(): readonly ChannelReport[];
}

export type ChannelBoardOptions = StorePort &
  ChannelsPort &
  ClockPort &
  SettingsPresence & { readonly silentChannels: readonly SilentContribution[] };

/** Opens the board of the channels that run here, and of those that stay silent. */
export function openChannelBoard(options: ChannelBoardOptions): ChannelBoard {
  const { store, channels, silentChannels, now } = options;
  const links = new Map<string, { readonly isConnected: boolean; readonly since: number }>();
  return {
    noted(name, { state }) {
      const isConnected = state === 'connected';
      if (links.get(name)?.isConnected !== isConnected) {
        links.set(name, { isConnected, since: now() });
      }
    },
    report() {
      const traffic = new Map(store.chats.traffic().map((one) => [one.channel, one]));
      const reportOf = (
        name: string,
        own: Pick<ChannelReport, 'state' | 'detail' | 'canPair'>,
      ): ChannelReport => {
        const { chats = 0, receivedAt = null, sentAt = null } = traffic.get(name) ?? {};
        return {
          name,
          ...own,
          since: links.get(name)?.since ?? null,
          hasSetUp: hasSetUpStep(options, name),
          ...{ chats, receivedAt, sentAt },
        };
      };
      return [
        ...channels.map((channel) =>
          reportOf(channel.name, {
            ...channel.status(),
            canPair: channel.pairing !== undefined,
          }),
        ),
        ...silentChannels.map((silent) => {
          const isAskedFor = faultOf(silent) === null && hasSetUpStep(options, silent.name);
          const detail = isAskedFor ? null : whatIsMissing(options, silent);
          return reportOf(silent.name, { state: 'silent', detail, canPair: false });
        }),
      ];
    },
  };
}
