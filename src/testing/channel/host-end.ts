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
  | {
      readonly kind: 'same-chat';
      readonly from: string;
      readonly to: string;
      readonly options: unknown;
    };

/**
 * The host's end of a channel: keeps all that it is told. A test may replace a method, to make storing fail or to hold
 * it up.
 */
export class HostEnd implements ChannelEvents {
  readonly messages: InboundMessage[] = [];
  readonly chats: KnownChat[] = [];
  readonly strangers: string[] = [];
  readonly choices: Choice[] = [];
  readonly reactions: Reaction[] = [];
  readonly frames: Frame[] = [];
  readonly statuses: ChannelStatus[] = [];
  readonly notices: string[] = [];
  /** Lines of the channel's log. */
  readonly log: { readonly message: string; readonly data: unknown }[] = [];
  /** Messages, notices and chats that go on elsewhere, in their order. */
  readonly told: Told[] = [];
  /** The number of messages that were handed over, stored or not. */
  offered = 0;
  /** What a press on a button comes to. */
  outcome: ChoiceOutcome = 'noted';
  /** True for a host with a service of devices: it takes every frame. */
  takesFrames = false;
  /** Runs before a message counts as stored; may reject, as a host whose disk is full, or wait. */
  beforeStored: (message: InboundMessage) => Promise<void> = async () => {};
  readonly #waiting = new Set<() => void>();

  onMessage = async (message: InboundMessage): Promise<void> => {
    this.offered += 1;
    await this.beforeStored(message);
    this.messages.push(message);
    this.told.push({ kind: 'message', message });
    this.changed();
  };

  onChat = async (chat: KnownChat): Promise<void> => {
    this.chats.push(chat);
    this.changed();
  };

  onSameChat = async (from: string, to: string, options?: unknown): Promise<void> => {
    this.told.push({ kind: 'same-chat', from, to, options });
    this.changed();
  };

  onNotice = (text: string): void => {
    this.notices.push(text);
    this.told.push({ kind: 'notice', text });
    this.changed();
  };

  onStranger = async (sender: string): Promise<void> => {
    this.strangers.push(sender);
    this.changed();
  };

  onChoice = async (choice: Choice): Promise<ChoiceOutcome> => {
    this.choices.push(choice);
    this.changed();
    return this.outcome;
  };

  onReaction = async (reaction: Reaction): Promise<ReactionOutcome> => {
    this.reactions.push(reaction);
    this.changed();
    return 'kept';
  };

  onFrame = (frame: Frame): boolean => {
    if (this.takesFrames) this.frames.push(frame);
    this.changed();
    return this.takesFrames;
  };

  onStatus = (status: ChannelStatus): void => {
    this.statuses.push(status);
    this.changed();
  };

  /** Takes a line of the channel's log: the `log` of the context that the channel is made with. */
  readonly writeLog = (message: string, data?: unknown): void => {
    this.log.push({ message, data });
    this.changed();
  };

  /** The texts of all messages, in order. */
  get texts(): readonly string[] {
    return this.messages.map(({ text }) => text);
  }

  /** Texts that would be answered, in order; what was handed over twice under one id counts once, as with the host. */
  get heard(): readonly string[] {
    const byId = new Map<string, string>();
    for (const { jid, id, text, isContext } of this.messages) {
      const key = `${jid} ${id}`;
      if (isContext !== true && !byId.has(key)) byId.set(key, text);
    }
    return [...byId.values()];
  }

  /** Resolves when the condition holds; it is looked at when anything comes. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!condition()) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** Looks at what is awaited: for a method that a test has replaced. */
  changed(): void {
    for (const look of this.#waiting) look();
  }
}
