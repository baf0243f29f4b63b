import type { Message } from 'grammy/types';
import type { OpenDatabase } from '../../lib/own-database.ts';

/** The table of topics, in the channel's database. */
export const TOPIC_MIGRATIONS = [
  `CREATE TABLE topic (
     chat INTEGER NOT NULL, thread INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (chat, thread)
   ) STRICT;`,
];

/** The names of topics. Telegram tells one when the topic is made or renamed, and beside the messages in it. */
export interface Topics {
  /** Learns a name from a message. */
  learn(message: Message): void;
  /** Returns the name of a topic; null for one that was never told. */
  nameOf(chat: number, thread: number): string | null;
}

/** Opens the names, in a database that has the table for them. */
export function openTopics(openDatabase: OpenDatabase): Topics {
  const database = openDatabase([]);
  const insert = database.prepare(
    `INSERT INTO topic (chat, thread, name) VALUES (?, ?, ?)
     ON CONFLICT (chat, thread) DO UPDATE SET name = excluded.name`,
  );
  const insertNew = database.prepare(
    'INSERT OR IGNORE INTO topic (chat, thread, name) VALUES (?, ?, ?)',
  );
  const find = database.prepare('SELECT name FROM topic WHERE chat = ? AND thread = ?').pluck();
  return {
    learn({ chat, message_thread_id: thread, ...message }) {
      if (thread === undefined) return;
      const name = message.forum_topic_created?.name ?? message.forum_topic_edited?.name;
      if (name !== undefined) insert.run(chat.id, thread, name);
      // What a message stands below is the topic as it was made: it may have another name by now.
      const made = message.reply_to_message?.forum_topic_created?.name;
      if (made !== undefined) insertNew.run(chat.id, thread, made);
    },
    nameOf(chat, thread) {
      const name = find.get(chat, thread);
      return typeof name === 'string' ? name : null;
    },
  };
}
