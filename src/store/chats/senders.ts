import type { Database } from 'better-sqlite3';
import { z } from 'zod';

/** The owner's rules on who may call the assistant where; senders are ids of their channel, never names. */
export interface Senders {
  /** Tells whether a sender may call the assistant in a group: all may where the owner named none. */
  mayCall(jid: string, sender: string): boolean;
  /** Returns the senders a group is limited to; empty for no limit. */
  ofGroup(jid: string): readonly string[];
  /** Limits a registered group to these senders; an empty list lifts the limit. */
  limitGroup(jid: string, senders: readonly string[]): void;
  /** Tells whether a sender may write directly on a channel without a limit of its own. */
  mayWrite(channel: string, sender: string): boolean;
  ofChannel(channel: string): readonly string[];
  setChannel(channel: string, senders: readonly string[]): void;
}

const Row = z.object({ sender: z.string() });

export function openSenders(database: Database): Senders {
  const mayCall = database.prepare(`
    SELECT NOT EXISTS (SELECT 1 FROM group_senders WHERE jid = :jid)
      OR EXISTS (SELECT 1 FROM group_senders WHERE jid = :jid AND sender = :sender) AS may`);
  const ofGroup = database.prepare(
    'SELECT sender FROM group_senders WHERE jid = ? ORDER BY sender',
  );
  const clearGroup = database.prepare('DELETE FROM group_senders WHERE jid = ?');
  const addToGroup = database.prepare(
    'INSERT INTO group_senders (jid, sender) VALUES (?, ?) ON CONFLICT DO NOTHING',
  );
  const mayWrite = database.prepare(
    'SELECT 1 FROM channel_senders WHERE channel = ? AND sender = ?',
  );
  const ofChannel = database.prepare(
    'SELECT sender FROM channel_senders WHERE channel = ? ORDER BY sender',
  );
  const clearChannel = database.prepare('DELETE FROM channel_senders WHERE channel = ?');
  const addToChannel = database.prepare(
    'INSERT INTO channel_senders (channel, sender) VALUES (?, ?) ON CONFLICT DO NOTHING',
  );
  const may = z.object({ may: z.int() });
  return {
    mayCall: (jid, sender) => may.parse(mayCall.get({ jid, sender })).may === 1,
    ofGroup: (jid) => ofGroup.all(jid).map((row) => Row.parse(row).sender),
    limitGroup: (jid, senders) =>
      database.transaction(() => {
        clearGroup.run(jid);
        for (const sender of senders) addToGroup.run(jid, sender);
      })(),
    mayWrite: (channel, sender) => mayWrite.get(channel, sender) !== undefined,
    ofChannel: (channel) => ofChannel.all(channel).map((row) => Row.parse(row).sender),
    setChannel: (channel, senders) =>
      database.transaction(() => {
        clearChannel.run(channel);
        for (const sender of senders) addToChannel.run(channel, sender);
      })(),
  };
}
