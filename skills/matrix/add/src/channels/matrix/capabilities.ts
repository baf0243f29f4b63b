import type { ChannelCapabilities } from '../channel.ts';

/** Abilities of an account. Homeservers allow files of 50 MB by default. */
export const CAPABILITIES: ChannelCapabilities = {
  attachments: { maxBytes: 50_000_000 },
  // Reactions with numbers, which every app shows; the text says which is which.
  choices: { most: 10, isBesideText: true },
  replyTo: true,
  thread: true,
  reactions: true,
  edits: true,
  // Homeservers allow ten messages at once and then one in five seconds, and an edit is a message.
  drafts: { everyMs: 5_000 },
};
