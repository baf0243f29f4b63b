import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import type { Chats } from './chats.ts';
import type { Group, Groups } from './groups.ts';

/** The result of merging two chats that were one. */
export type MergedChats = {
  /** The group that goes on; null where neither was one. */
  readonly group: Group | null;
  /** The other one's folder, which stays as it is; null where only one was registered. */
  readonly leftFolder: string | null;
};

/** Merges the chat at the first address into that at the second. */
export type MergeChats = (
  from: string,
  to: string,
  how?: { readonly countsAnew: boolean },
) => MergedChats;

type Tables = { readonly chats: Chats; readonly groups: Groups };

const Registered = z.object({ at: z.int() });

/**
 * Makes two chats one, in one transaction: they are the same person under two addresses.
 *
 * Everything that was said, asked, queued and set goes on under `to`; what was stored under both
 * addresses stays once. Of two registrations the owner's own chat goes on, else the older one, and takes
 * the tasks of the other. What still asks for `from` later finds `to`.
 */
export function createChatMerger(database: Database, { chats, groups }: Tables): MergeChats {
  const run = (sql: string, values: Readonly<Record<string, unknown>>): void =>
    void database.prepare(sql).run(values);
  const registeredAt = database.prepare('SELECT registered_at AS at FROM groups WHERE jid = ?');
  const isOlder = (one: Group, other: Group): boolean =>
    Registered.parse(registeredAt.get(one.jid)).at <
    Registered.parse(registeredAt.get(other.jid)).at;
  /**
   * Finds the group of a chat itself, not of the chat it was merged into: a finished merge is not repeated
   * after a crash.
   */
  const groupAt = (jid: string): Group | null => {
    const group = groups.byJid(jid);
    return group?.jid === jid ? group : null;
  };

  function mergeGroups(from: string, to: string): MergedChats {
    const [leaving, staying] = [groupAt(from), groupAt(to)];
    if (leaving === null) return { group: staying, leftFolder: null };
    if (staying === null) {
      run('UPDATE groups SET jid = :to WHERE jid = :from', { from, to });
      return { group: { ...leaving, jid: to }, leftFolder: null };
    }
    const isLeavingKept =
      leaving.isMain !== staying.isMain ? leaving.isMain : isOlder(leaving, staying);
    const [kept, left] = isLeavingKept ? [leaving, staying] : [staying, leaving];
    run('DELETE FROM group_senders WHERE jid = :jid', { jid: left.jid });
    const since = 'min(since_seq, (SELECT since_seq FROM groups WHERE jid = :from))';
    run(`UPDATE groups SET since_seq = ${since} WHERE jid = :to`, { from, to });
    const settings = database
      .prepare(
        'SELECT folder, name, needs_trigger, trigger_word, is_main, registered_at FROM groups WHERE jid = ?',
      )
      .get(kept.jid);
    // Moves rows that refer to the group first, else they would be deleted with it.
    for (const table of ['turns', 'outbox']) {
      run(`UPDATE ${table} SET jid = :to WHERE jid = :from`, { from, to });
    }
    for (const table of ['asks', 'group_senders', 'held_messages']) {
      run(`UPDATE OR IGNORE ${table} SET jid = :to WHERE jid = :from`, { from, to });
    }
    mergeLate(from, to);
    run('DELETE FROM groups WHERE jid = :from', { from });
    run(
      `UPDATE groups SET folder = :folder, name = :name, needs_trigger = :needs_trigger,
         trigger_word = :trigger_word, is_main = :is_main, registered_at = :registered_at
       WHERE jid = :to`,
      { ...z.record(z.string(), z.unknown()).parse(settings), to },
    );
    if (kept.folder === left.folder) return { group: groups.byJid(to), leftFolder: null };
    for (const column of ['folder', 'created_by']) {
      run(`UPDATE tasks SET ${column} = :kept WHERE ${column} = :left`, {
        kept: kept.folder,
        left: left.folder,
      });
    }
    return { group: groups.byJid(to), leftFolder: left.folder };
  }

  function mergeLate(from: string, to: string): void {
    run(
      `INSERT INTO late_messages (jid, messages) SELECT :to, messages FROM late_messages WHERE jid = :from
       ON CONFLICT (jid) DO UPDATE SET messages = messages + excluded.messages`,
      { from, to },
    );
    run('DELETE FROM late_messages WHERE jid = :from', { from });
  }

  /** Drops the second of two equal messages, and a turn that asks for nothing else. */
  function dropDuplicates(from: string, to: string): void {
    const doubles = `SELECT max(seq) FROM messages WHERE jid IN (:from, :to)
      GROUP BY id HAVING count(*) > 1`;
    run(
      `DELETE FROM turns WHERE state = 'queued' AND from_seq = upto_seq AND upto_seq IN (${doubles})
         AND jid IN (:from, :to)`,
      { from, to },
    );
    run(`DELETE FROM messages WHERE seq IN (${doubles})`, { from, to });
  }

  /** Joins the waiting agent's turns of a chat into one, which still covers all of their questions. */
  function mergeTurns(jid: string): void {
    const waiting = `jid = :jid AND kind = 'agent' AND state = 'queued' AND payload IS NULL`;
    run(
      `UPDATE turns SET upto_seq = (SELECT max(upto_seq) FROM turns WHERE ${waiting}),
         from_seq = (SELECT min(from_seq) FROM turns WHERE ${waiting})
       WHERE seq = (SELECT min(seq) FROM turns WHERE ${waiting})`,
      { jid },
    );
    run(
      `DELETE FROM turns WHERE ${waiting} AND seq > (SELECT min(seq) FROM turns WHERE ${waiting})`,
      { jid },
    );
    const asked = `(SELECT min(from_seq) FROM turns WHERE ${waiting})`;
    run(
      `UPDATE turns SET upto_seq = ${asked} - 1
       WHERE jid = :jid AND kind = 'agent' AND state IN ('answered', 'gave_up') AND upto_seq >= ${asked}`,
      { jid },
    );
  }

  function mergeChat(from: string, to: string): MergedChats {
    run(
      `INSERT INTO chats (jid, channel, name, is_direct, seen_at, is_dismissed)
       SELECT :to, channel, name, is_direct, seen_at, is_dismissed FROM chats WHERE jid = :from
       ON CONFLICT (jid) DO UPDATE SET name = coalesce(name, excluded.name),
         seen_at = max(seen_at, excluded.seen_at), is_dismissed = max(is_dismissed, excluded.is_dismissed)`,
      { from, to },
    );
    dropDuplicates(from, to);
    // Older trees' questions are rows of `asks`; what is left of them here refers to the group.
    run('DELETE FROM questions WHERE jid = :from', { from });
    const merged = mergeGroups(from, to);
    for (const table of ['messages', 'answers', 'turns', 'outbox', 'folder_holders']) {
      run(`UPDATE ${table} SET jid = :to WHERE jid = :from`, { from, to });
    }
    for (const table of ['asks', 'group_senders', 'held_messages']) {
      run(`UPDATE OR IGNORE ${table} SET jid = :to WHERE jid = :from`, { from, to });
      run(`DELETE FROM ${table} WHERE jid = :from`, { from });
    }
    mergeLate(from, to);
    mergeTurns(to);
    if (merged.group !== null) run('UPDATE chats SET is_dismissed = 0 WHERE jid = :to', { to });
    run('UPDATE chats SET merged_into = NULL WHERE jid = :to', { to });
    run('UPDATE chats SET merged_into = :to WHERE :from IN (jid, merged_into)', { from, to });
    return merged;
  }

  /** Moves a person's messages and rights in groups to their other address. */
  function mergeSender(from: string, to: string): void {
    run('UPDATE messages SET sender = :to WHERE sender = :from', { from, to });
    for (const table of ['asks', 'held_messages']) {
      run(`UPDATE ${table} SET sender = :to WHERE sender = :from`, { from, to });
    }
    for (const table of ['group_senders', 'channel_senders', 'reactions', 'strangers']) {
      run(`UPDATE OR IGNORE ${table} SET sender = :to WHERE sender = :from`, { from, to });
      run(`DELETE FROM ${table} WHERE sender = :from`, { from });
    }
  }

  /** Gives the messages of a chat ids that its next address never gives: else a new message would pass for one of them. */
  function setApart(from: string): void {
    for (const table of ['messages', 'held_messages']) {
      run(`UPDATE ${table} SET id = :from || '/' || id WHERE jid = :from`, { from });
    }
  }

  return database.transaction<MergeChats>((from, to, how) => {
    if (from === to) return { group: groupAt(to), leftFolder: null };
    // References are checked at the end, when both sides of each have moved.
    database.pragma('defer_foreign_keys = ON');
    mergeSender(from, to);
    if (how?.countsAnew === true) setApart(from);
    // One that was merged before is known by the other address, too.
    return chats.byJid(from) === null
      ? { group: groupAt(to), leftFolder: null }
      : mergeChat(from, to);
  });
}
