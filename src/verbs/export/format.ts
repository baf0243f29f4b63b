import type { SaidInChat } from '../../store/messages/transcript.ts';

/** The chat that is exported; `name` is what people call it. */
export type ExportedChat = { readonly jid: string; readonly name: string };

/** Facts of an export beside what was said. */
export type ExportFacts = {
  readonly chats: readonly ExportedChat[];
  readonly assistantName: string;
};

/** Turns what was said into lines of a file. */
export type ExportFormat = (said: Iterable<SaidInChat>, facts: ExportFacts) => Iterable<string>;
