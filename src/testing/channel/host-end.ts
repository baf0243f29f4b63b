import type {
  ChannelEvents,
  ChannelStatus,
  Choice,
  ChoiceOutcome,
  Frame,
  InboundMessage,
  KnownChat,
  Reaction,
  ReactionOutcome,
} from '../../channels/channel.ts';

/** A thing that the agent or the owner learns of. */
export type Told =
  | { readonly kind: 'message'; readonly message: InboundMessage }
  | { readonly kind: 'notice'; readonly text: string }
  | { readonly kind: 'same-chat'; readonly from: string; readonly to: string };

/** The host's end of a channel: keeps all that it is told. */
export class HostEnd implements ChannelEvents {
  readonly messages: InboundMessage[] = [];
  readonly chats: KnownChat[] = [];
  readonly strangers: string[] = [];
  readonly choices: Choice[] = [];
  readonly reactions: Reaction[] = [];
  readonly frames: Frame[] = [];
  readonly statuses: ChannelStatus[] = [];
  /** Messages, notices and chats that go on elsewhere, in their order. */
  readonly told: Told[] = [];
  /** The number of messages that were handed over, stored or not. */
  offered = 0;
  /** Runs before a message counts as stored; may reject, as a host whose disk is full, or wait. */
  beforeStored: (message: InboundMessage) => Promise<void> = async () => {};

  readonly onMessage = async (message: InboundMessage): Promise<void> => {
    this.offered += 1;
    await this.beforeStored(message);
    this.messages.push(message);
    this.told.push({ kind: 'message', message });
  };

  readonly onChat = async (chat: KnownChat): Promise<void> => {
    this.chats.push(chat);
  };

  readonly onSameChat = async (from: string, to: string): Promise<void> => {
    this.told.push({ kind: 'same-chat', from, to });
  };

  readonly onNotice = (text: string): void => {
    this.told.push({ kind: 'notice', text });
  };

  readonly onStranger = async (sender: string): Promise<void> => {
    this.strangers.push(sender);
  };

  readonly onChoice = async (choice: Choice): Promise<ChoiceOutcome> => {
    this.choices.push(choice);
    return 'noted';
  };

  readonly onReaction = async (reaction: Reaction): Promise<ReactionOutcome> => {
    this.reactions.push(reaction);
    return 'kept';
  };

  /** Takes every frame, as a service of devices does. */
  readonly onFrame = (frame: Frame): boolean => {
    this.frames.push(frame);
    return true;
  };

  readonly onStatus = (status: ChannelStatus): void => {
    this.statuses.push(status);
  };

  /** Texts that would be answered, in order; what was handed over twice under one id counts once, as with the host. */
  get heard(): readonly string[] {
    const byId = new Map<string, string>();
    for (const { jid, id, text, isContext } of this.messages) {
      const key = `${jid} ${id}`;
      if (isContext !== true && !byId.has(key)) byId.set(key, text);
    }
    return [...byId.values()];
  }
}
