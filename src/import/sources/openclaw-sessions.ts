import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import { MESSENGER_BOUNDS, readJsonHere } from '../../lib/bounded-json.ts';
import { text } from '../../lib/bounded-schema.ts';
import { each, ignored, left, ofTable, type Rules } from '../accounting.ts';
import type { LeftBehind, SourceChat, SourceMessage } from '../imported-items.ts';
import { columnsOf } from '../source-database.ts';
import { isFile, isFolder, namesIn, readSourceJson } from '../source-files.ts';
import { chatOfPeer, jsonLines, messageOf, momentOfAny } from './gateway.ts';

/** A conversation of one of OpenClaw's agents. */
export type Session = {
  readonly key: string;
  readonly agent: string;
  readonly chat: SourceChat;
  readonly isMain: boolean;
  /** The transcripts that it consists of. */
  readonly ids: readonly string[];
  messages(): Iterable<SourceMessage>;
};

const RUNNING = ignored('of its own running');
/** What becomes of the tables of an agent's database. */
export const SESSION_TABLES: Rules = {
  ...ofTable('session_nodes', 'session_key current_session_id entry_json'),
  ...ofTable(
    'session_nodes',
    'label display_name category icon pinned_at archived_at',
    left('how its own window lists conversations'),
  ),
  ...ofTable(
    'session_nodes',
    'updated_at status created_* owner_* project_id parent_session_key spawned_by fork_* last_*',
    RUNNING,
  ),
  ...ofTable('session_nodes', 'snapshot_revision entry_valid legacy_acp_migration_json', RUNNING),
  ...ofTable('session_windows', 'session_id session_key'),
  ...ofTable(
    'session_windows',
    'previous_session_id reason session_scope created_at updated_at transcript_* started_at ended_at',
    RUNNING,
  ),
  ...ofTable(
    'session_windows',
    'session_entry_provenance acp_owned plugin_owner_id hook_* status chat_type channel account_id',
    RUNNING,
  ),
  ...ofTable(
    'session_windows',
    'primary_conversation_id model* agent_harness_id parent_session_key spawned_by display_name',
    RUNNING,
  ),
  ...ofTable('transcript_events', 'session_id seq event_json'),
  'transcript_events/created_at': RUNNING,
  ...each(
    ['conversations/**', 'session_conversations/**'],
    ignored('the names of its sessions tell the chats'),
  ),
  'session_transcript_fts*/**': ignored('an index of its transcripts'),
  'auth_profile*/**': left('logins in its database; set keys anew: npx claw setup model'),
  'schema_meta/**': ignored('the version of its tables'),
};

export function agentsOf(root: string): readonly string[] {
  const agents = namesIn(join(root, 'agents')).filter((name) =>
    isFolder(join(root, 'agents', name)),
  );
  // The usual agent first: the chats of others come after its own.
  return agents.toSorted((one, other) => Number(other === 'main') - Number(one === 'main'));
}

export function agentDatabase(root: string, agent: string): string {
  return join(root, 'agents', agent, 'agent/openclaw-agent.sqlite');
}

const SessionEntry = z.looseObject({
  sessionId: text(200).nullish(),
  lastChannel: text(100).nullish(),
  lastTo: text(500).nullish(),
  displayName: text(1_000).nullish(),
  subject: text(1_000).nullish(),
});

/** Finds the chat that a session is of, by its key; null for sessions of cron jobs, hooks and helpers. */
function chatOfKey(
  key: string,
  entry: z.output<typeof SessionEntry>,
): { readonly chat: SourceChat; readonly isMain: boolean } | null {
  const [, , ...rest] = key.split(':');
  const name = entry.subject ?? entry.displayName ?? null;
  if (rest.length === 1 && rest[0] === 'main') {
    const { lastChannel: channel, lastTo: id } = entry;
    const isKnown = channel && id && channel !== 'webchat';
    const chat = isKnown
      ? chatOfPeer({ channel, kind: 'direct', id, name: null })
      : { jid: 'openclaw:main', channel: 'openclaw', name: 'OpenClaw', isDirect: true };
    return { chat, isMain: true };
  }
  const at = rest.findIndex((part) => ['group', 'channel', 'direct', 'dm'].includes(part));
  const channel = rest[0];
  const kind = rest[at];
  const id = rest.slice(at + 1).join(':');
  if (at < 1 || channel === undefined || kind === undefined || id === '') return null;
  const isDirect = kind === 'direct' || kind === 'dm';
  const peer = { channel, kind: isDirect ? ('direct' as const) : ('group' as const), id, name };
  return { chat: chatOfPeer(peer), isMain: false };
}

export function sessionsInFiles(root: string, agent: string): readonly Session[] {
  const folder = join(root, 'agents', agent, 'sessions');
  const index = readSourceJson(join(folder, 'sessions.json'), z.record(text(1_000), z.unknown()));
  return Object.entries(index ?? {}).flatMap(([key, raw]) => {
    const entry = SessionEntry.safeParse(raw).data;
    const found = entry === undefined ? null : chatOfKey(key, entry);
    const id = entry?.sessionId ?? '';
    if (found === null || !/^[\w.-]+$/.test(id)) return [];
    const path = join(folder, `${id}.jsonl`);
    const messages = () => messagesOf(jsonLines(path), found, id);
    return [{ key, agent, ...found, ids: [id], messages }];
  });
}

export function sessionsInDatabase(database: Database, agent: string): readonly Session[] {
  if (columnsOf(database, 'session_nodes').size === 0) return [];
  const rows = database
    .prepare(
      'SELECT session_key, current_session_id, entry_json FROM session_nodes ORDER BY session_key',
    )
    .all()
    .map((row) => SessionNode.parse(row));
  const hasWindows = columnsOf(database, 'session_windows').size > 0;
  const windows = hasWindows
    ? database.prepare('SELECT session_id FROM session_windows WHERE session_key = ?').pluck()
    : null;
  const events = database.prepare(
    'SELECT event_json FROM transcript_events WHERE session_id = ? ORDER BY seq',
  );
  return rows.flatMap(({ session_key: key, current_session_id: current, entry_json: json }) => {
    const entry = SessionEntry.safeParse(json === null ? {} : parsedOrNull(json)).data ?? {};
    const found = chatOfKey(key, entry);
    if (found === null) return [];
    const earlier = windows?.all(key).map(String) ?? [];
    const ids = [...new Set([...earlier, ...(current === null ? [] : [current])])];
    function* messages(): Iterable<SourceMessage> {
      for (const id of ids) {
        const lines = events.all(id).map((row) => parsedOrNull(SessionEvent.parse(row).event_json));
        if (found !== null) yield* messagesOf(lines, found, id);
      }
    }
    return [{ key, agent, ...found, ids, messages }];
  });
}

const SessionNode = z.object({
  session_key: text(1_000),
  current_session_id: text(200).nullable(),
  entry_json: text().nullable(),
});
const SessionEvent = z.object({ event_json: text(16_777_216) });
const Line = z.looseObject({
  type: text(100).nullish(),
  id: text(200).nullish(),
  timestamp: z.union([text(100), z.number()]).nullish(),
  message: z
    .looseObject({ role: text(50), content: z.unknown(), timestamp: z.number().nullish() })
    .nullish(),
});

function* messagesOf(
  lines: Iterable<unknown>,
  { chat, isMain }: Pick<Session, 'chat' | 'isMain'>,
  session: string,
): Iterable<SourceMessage> {
  let number = 0;
  let last = 0;
  for (const raw of lines) {
    number += 1;
    const line = Line.safeParse(raw).data;
    if (line?.type !== 'message' || !line.message) continue;
    last = momentOfAny(line.timestamp) ?? momentOfAny(line.message.timestamp) ?? last;
    const id = `${session}/${line.id ?? number}`;
    const { role, content } = line.message;
    const message = messageOf(chat, { id, role, content, at: last }, isMain);
    if (message !== null) yield message;
  }
}

/**
 * Names the transcripts that belong to no chat: those of cron jobs and hooks, and of conversations that were started
 * again.
 */
export function sessionsLeft(
  root: string,
  agents: readonly string[],
  sessions: readonly Session[],
): readonly LeftBehind[] {
  return agents.flatMap((agent) => {
    // Its sessions are in the database; files beside it are what was moved.
    if (isFile(agentDatabase(root, agent))) return [];
    const read = new Set(sessions.filter((one) => one.agent === agent).map(({ ids }) => ids[0]));
    const count = namesIn(join(root, 'agents', agent, 'sessions')).filter(
      (name) => name.endsWith('.jsonl') && !read.has(name.slice(0, -6)),
    ).length;
    if (count === 0) return [];
    const what = `${count} ${count === 1 ? 'transcript' : 'transcripts'} in agents/${agent}/sessions`;
    return [{ what, why: 'its index names no chat for them: jobs, hooks and ended conversations' }];
  });
}

/** Reads JSON that another program stored; null for what is damaged, or more than a message can be. */
function parsedOrNull(text: string): unknown {
  const read = readJsonHere(text, MESSENGER_BOUNDS);
  return read.kind === 'value' ? read.value : null;
}
