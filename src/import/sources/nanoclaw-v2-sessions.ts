import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import { jsonWithin, MESSENGER_BOUNDS } from '../../lib/bounded-json.ts';
import { text } from '../../lib/bounded-schema.ts';
import { each, ignored, left, ofTable, type Rules } from '../accounting.ts';
import type { SourceGroup, SourceMessage, SourceTask } from '../imported-items.ts';
import { columnsOf, openSourceDatabase } from '../source-database.ts';
import { isFile } from '../source-files.ts';
import { momentOfAny } from './gateway.ts';
import { platformChat } from './nanoclaw.ts';

const RUNNING = ignored('of its own running');

/** What becomes of each column of a session's two databases. */
export const SESSION_TABLES: Rules = {
  ...ofTable('messages_in', 'id seq kind timestamp status process_after recurrence series_id'),
  ...ofTable('messages_in', 'platform_id channel_type content'),
  ...ofTable('messages_in', 'tries trigger thread_id source_session_id on_wake', RUNNING),
  ...ofTable('messages_out', 'id seq kind timestamp platform_id channel_type content'),
  ...ofTable('messages_out', 'in_reply_to thread_id', RUNNING),
  ...ofTable(
    'messages_out',
    'deliver_after recurrence',
    left('an answer that was to be sent later; it is in the history as said'),
  ),
  ...each(
    ['delivered', 'destinations', 'session_routing', 'processing_ack', 'session_state']
      .concat('container_state')
      .map((name) => `${name}/**`),
    RUNNING,
  ),
};

/** A group of this assistant, for a chat that is wired to an agent there. */
export type WiredGroup = SourceGroup & {
  readonly agent: string;
  readonly chatId: string;
  readonly home: string;
};

/** The two databases of a session: received and sent messages. */
export type SessionFiles = {
  readonly group: WiredGroup;
  readonly inbound: string;
  readonly outbound: string;
};
const SessionRow = z.object({
  id: text(200),
  agent_group_id: text(200),
  messaging_group_id: text(200).nullable(),
});

/** Returns the sessions that the central database lists, oldest first, each with the group whose it is. */
export function sessionsOf(
  database: Database,
  root: string,
  groups: readonly WiredGroup[],
): readonly SessionFiles[] {
  return database
    .prepare('SELECT id, agent_group_id, messaging_group_id FROM sessions ORDER BY created_at, id')
    .all()
    .flatMap((row) => {
      const { id, agent_group_id: agent, messaging_group_id: chat } = SessionRow.parse(row);
      const ofAgent = groups.filter((group) => group.agent === agent);
      const group = ofAgent.find(({ chatId }) => chatId === chat) ?? ofAgent[0];
      const isName = [id, agent].every((name) => /^[\w.-]+$/.test(name) && !name.startsWith('.'));
      if (group === undefined || !isName) return [];
      const folder = join(root, 'data/v2-sessions', agent, id);
      return [
        { group, inbound: join(folder, 'inbound.db'), outbound: join(folder, 'outbound.db') },
      ];
    });
}

const Row = z.object({
  id: text(500),
  seq: z.int().nullable(),
  kind: text(50),
  timestamp: text(100),
  platform_id: text(500).nullable(),
  channel_type: text(100).nullable(),
  content: text(16_777_216),
});
const Content = z.looseObject({
  text: text().nullish(),
  sender: text(1_000).nullish(),
  senderId: text(500).nullish(),
  author: z
    .looseObject({
      fullName: text(500).nullish(),
      userName: text(500).nullish(),
      userId: text(500).nullish(),
    })
    .nullish(),
});

/** The databases of all sessions, each open only while it is looked at. */
export function* databasesOf(
  sessions: readonly SessionFiles[],
  workDir: string,
): Iterable<Database> {
  for (const path of sessions.flatMap(({ inbound, outbound }) => [inbound, outbound])) {
    if (!isFile(path)) continue;
    const database = openSourceDatabase(path, workDir);
    try {
      yield database;
    } finally {
      database.close();
    }
  }
}

/** Yields the received and sent messages, by their common numbers. Each database is open only while it is read. */
export function* messagesOf(
  { group, inbound, outbound }: SessionFiles,
  workDir: string,
): Iterable<SourceMessage> {
  const found: { readonly seq: number; readonly message: SourceMessage }[] = [];
  for (const [path, table, isAnswer] of [
    [inbound, 'messages_in', false],
    [outbound, 'messages_out', true],
  ] as const) {
    if (!isFile(path)) continue;
    const database = openSourceDatabase(path, workDir);
    try {
      const rows = database.prepare(
        `SELECT id, seq, kind, timestamp, platform_id, channel_type, content FROM ${table} WHERE kind LIKE 'chat%'`,
      );
      for (const raw of rows.iterate()) {
        const row = Row.parse(raw);
        const message = messageOf(row, group, isAnswer);
        if (message !== null) found.push({ seq: row.seq ?? 0, message });
      }
    } finally {
      database.close();
    }
  }
  for (const { message } of found.toSorted((one, other) => one.seq - other.seq)) yield message;
}

function messageOf(
  row: z.output<typeof Row>,
  group: WiredGroup,
  isAnswer: boolean,
): SourceMessage | null {
  const content = Content.safeParse(jsonWithin(row.content, MESSENGER_BOUNDS)).data;
  const words = content?.text ?? '';
  if (words.trim() === '') return null;
  const { platform_id: id, channel_type: channel } = row;
  const jid = id && channel ? platformChat(channel, id, null, false).jid : group.jid;
  const name = content?.sender ?? content?.author?.fullName ?? content?.author?.userName ?? null;
  const person = content?.senderId ?? content?.author?.userId ?? name ?? 'unknown';
  return {
    jid,
    id: row.id,
    sender: isAnswer ? null : person.replace(/^[a-z]+:/, ''),
    senderName: isAnswer ? null : name,
    isOwner: !isAnswer && group.isMain,
    text: words,
    at: momentOfAny(utc(row.timestamp)) ?? 0,
  };
}

/** SQLite's own clock writes UTC without saying so. */
function utc(moment: string | null): string | null {
  return moment !== null && /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/.test(moment)
    ? `${moment.replace(' ', 'T')}Z`
    : moment;
}

const TaskRow = z.object({
  id: text(500),
  series_id: text(500).nullable(),
  timestamp: text(100),
  status: text(50).nullable(),
  process_after: text(100).nullable(),
  recurrence: text(1_000).nullable(),
  content: text(16_777_216),
});
const TaskContent = z.looseObject({ prompt: text(), script: text().nullish() });

/** Tasks are messages that wait. Of a series each time is one; the newest tells when it is next. */
export function tasksIn(
  database: Database,
  group: WiredGroup,
  timeZone: string,
): readonly SourceTask[] {
  if (columnsOf(database, 'messages_in').size === 0) return [];
  const rows = database
    .prepare(`SELECT id, series_id, timestamp, status, process_after, recurrence, content
      FROM messages_in WHERE kind = 'task' ORDER BY seq`)
    .all()
    .map((row) => TaskRow.parse(row));
  const series = Map.groupBy(rows, ({ id, series_id: name }) => name ?? id);
  return [...series].flatMap(([id, times]) => {
    const last = times.at(-1);
    const content = TaskContent.safeParse(jsonWithin(last?.content ?? '', MESSENGER_BOUNDS)).data;
    if (last === undefined || content === undefined) return [];
    const next = momentOfAny(utc(last.process_after));
    const isOpen = last.status === 'pending' || last.status === 'paused';
    const done = times.filter(({ status }) => status === 'completed').at(-1);
    return [
      {
        ...{ id, folder: group.folder, name: null, prompt: content.prompt },
        schedule:
          last.recurrence === null
            ? { kind: 'at', at: next ?? momentOfAny(utc(last.timestamp)) ?? 0, timeZone }
            : { kind: 'cron', pattern: last.recurrence, timeZone },
        context: 'group',
        state: !isOpen ? 'done' : last.status === 'paused' ? 'paused' : 'active',
        nextRun: isOpen ? next : null,
        lastRun: momentOfAny(utc(done?.process_after ?? null)),
        createdAt: momentOfAny(utc(times[0]?.timestamp ?? null)),
        runs: [],
        lost: content.script ? 'the script that ran before it does not come' : null,
      } satisfies SourceTask,
    ];
  });
}
