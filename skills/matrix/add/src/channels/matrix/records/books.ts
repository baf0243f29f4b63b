import type { OpenDatabase } from '../../../lib/own-database.ts';
import { ATTEMPT_MIGRATION, type Attempts, openAttempts } from '../../kit/attempts.ts';
import { openSentMessages, type SentMessages } from '../../kit/sent-messages.ts';
import { FILE_MIGRATION, type FileReferences, openFileReferences } from './file-references.ts';
import { HELD_MIGRATION, type HeldEvents, openHeldEvents } from './held-events.ts';
import { KEY_MIGRATION, type KeyRecords, openKeyRecords } from './key-records.ts';
import { openQuestions, QUESTION_MIGRATION, type Questions } from './questions.ts';
import { openRoomBook, ROOM_MIGRATION, type RoomBook } from './room-book.ts';
import { openSyncPosition, POSITION_MIGRATION, type SyncPosition } from './sync-position.ts';

/** All that the channel keeps on disk. */
export type Books = {
  readonly position: SyncPosition;
  readonly rooms: RoomBook;
  readonly files: FileReferences;
  readonly held: HeldEvents;
  readonly keys: KeyRecords;
  readonly questions: Questions;
  readonly attempts: Attempts;
};

const MIGRATIONS = [
  POSITION_MIGRATION,
  ROOM_MIGRATION,
  FILE_MIGRATION,
  HELD_MIGRATION,
  KEY_MIGRATION,
  QUESTION_MIGRATION,
  ATTEMPT_MIGRATION,
];

/** Opens the channel's own database. */
export function openBooks(
  openDatabase: OpenDatabase,
  now: () => number,
): { readonly books: Books; readonly sent: SentMessages } {
  const sent = openSentMessages(openDatabase, now, MIGRATIONS);
  const database = openDatabase([]);
  const books = {
    position: openSyncPosition(database),
    rooms: openRoomBook(database),
    files: openFileReferences(database, now),
    held: openHeldEvents(database, now),
    keys: openKeyRecords(database),
    questions: openQuestions(database, now),
    attempts: openAttempts(openDatabase, now),
  };
  return { books, sent };
}
