import type { ChannelCapabilities } from '../channel.ts';

/** Abilities of a bot. A server without boosts takes files of 10 MB. */
export const CAPABILITIES: ChannelCapabilities = {
  attachments: { maxBytes: 10_000_000 },
  // Five rows of five buttons.
  choices: { most: 25, longest: 80 },
  replyTo: true,
  thread: true,
  reactions: true,
  edits: true,
  speech: true,
  // Discord takes five changes in five seconds in a channel.
  drafts: { everyMs: 1_200, everyMsInGroup: 1_500 },
};
