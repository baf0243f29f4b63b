import type { OpenDatabase } from '../../../lib/own-database.ts';
import { ATTEMPT_MIGRATION, type Attempts, openAttempts } from '../../kit/attempts.ts';
import { openSentMessages, type SentMessages } from '../../kit/sent-messages.ts';
import { FILE_MIGRATION, type FileReferences, openFileReferences } from './file-references.ts';
import {
  INTERACTION_MIGRATION,
  type OpenInteractions,
  openInteractions,
} from './open-interactions.ts';
import {
  COMMANDS_MIGRATION,
  openRegisteredCommands,
  type RegisteredCommands,
} from './registered-commands.ts';
import { openSeenMessages, SEEN_MIGRATION, type SeenMessages } from './seen-messages.ts';
import { openSessionBook, SESSION_MIGRATION, type SessionBook } from './session-book.ts';

/** All that the channel keeps on disk. */
export type Books = {
  readonly session: SessionBook;
  readonly seen: SeenMessages;
  readonly files: FileReferences;
  readonly interactions: OpenInteractions;
  readonly registered: RegisteredCommands;
  readonly attempts: Attempts;
};

const MIGRATIONS = [
  FILE_MIGRATION,
  SESSION_MIGRATION,
  SEEN_MIGRATION,
  INTERACTION_MIGRATION,
  COMMANDS_MIGRATION,
  ATTEMPT_MIGRATION,
];

/** Opens the channel's own database. */
export function openBooks(
  openDatabase: OpenDatabase,
  { now, apiUrl }: { readonly now: () => number; readonly apiUrl: string },
): { readonly books: Books; readonly sent: SentMessages } {
  const sent = openSentMessages(openDatabase, now, MIGRATIONS);
  const database = openDatabase([]);
  const books = {
    session: openSessionBook(database, apiUrl),
    seen: openSeenMessages(database, now),
    files: openFileReferences(database, now),
    interactions: openInteractions(database, now),
    registered: openRegisteredCommands(database),
    attempts: openAttempts(openDatabase, now),
  };
  return { books, sent };
}
