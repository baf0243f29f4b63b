import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { parse } from 'yaml';
import { z } from 'zod';
import { text } from '../../lib/bounded-schema.ts';
import {
  each,
  filesLeft,
  ignored,
  keysLeft,
  left,
  ofTable,
  READ,
  type Rules,
  tablesLeft,
} from '../accounting.ts';
import { settingsIn } from '../env-settings.ts';
import {
  ImportRefused,
  type Source,
  type SourceChat,
  type SourceContext,
  type SourceFile,
  type SourceGroup,
  type SourceMessage,
  type SourceState,
} from '../imported-items.ts';
import { columnsOf, openSourceDatabase } from '../source-database.ts';
import {
  copiesOf,
  filesBelow,
  isFile,
  isFolder,
  readSourceJson,
  readSourceText,
} from '../source-files.ts';
import {
  chatOfPeer,
  type Delivery,
  messageOf,
  modelSetting,
  momentOfAny,
  tasksOfJobs,
} from './gateway.ts';
import { mainGroup } from './nanobot.ts';

/** Hermes: `state.db` with sessions and messages, Markdown memories, and cron jobs in a JSON file. */
export const hermes: Source = {
  product: 'hermes',
  detect(context) {
    const { root } = context;
    const store = join(root, 'state.db');
    const isThere = isFile(store) || isFolder(join(root, 'memories'));
    if (!isThere || !isFile(join(root, 'config.yaml'))) return null;
    return {
      product: 'hermes',
      version: isFile(store) ? 'with SQLite' : 'with files',
      storeFiles: isFile(store) ? [store] : [],
      units: [/^(ai\.|com\.)?hermes([-.][\w.-]+)?$/],
      containerPrefixes: ['hermes'],
      commands: [/\bhermes(\.py)?\s+gateway\b/],
      read: () => readStore(context, isFile(store) ? store : null),
    };
  },
};

const FILES: Rules = {
  ...each(['state.db', 'state.db-wal', 'state.db-shm', 'config.yaml', '.env', 'SOUL.md'], READ),
  ...each(['memories/USER.md', 'memories/MEMORY.md', 'sessions/sessions.json'], READ),
  ...each(['cron/jobs.json', 'skills/**'], READ),
  'sessions/**': left('what was said comes from state.db'),
  'cron/**': left('what earlier runs of its jobs said'),
  'hooks/**': left('programs of Hermes are not trusted here'),
  'hermes-agent/**': left('its code'),
  'auth.json': left('a login of a subscription belongs to the program that made it'),
  ...each(
    [...['logs/**', '*_cache/**', 'cache/**', 'sandboxes/**', 'bin/**', 'node/**'], 'gateway*'],
    ignored('of its own running'),
  ),
};
const KEYS: Rules = {
  ...each(['model', 'model/default', 'timezone'], READ),
  'model/provider': left('the name of the model says it here'),
};

const RUNNING = ignored('of its own running');
const TABLES: Rules = {
  ...ofTable('messages', 'id session_id role content timestamp'),
  ...ofTable(
    'messages',
    'tool_call_id tool_calls tool_name effect_disposition finish_reason reasoning* codex_*',
    left('the thoughts and tool calls of its agents; what was said comes'),
  ),
  ...ofTable(
    'messages',
    'token_count platform_message_id observed _compressed_summary active compacted api_content display_*',
    RUNNING,
  ),
  'sessions/id': READ,
  'sessions/title': left('conversations have no titles here'),
  ...ofTable(
    'sessions',
    'source created_source user_id session_key chat_id chat_type thread_id display_name origin_json',
    ignored('sessions/sessions.json names the chats'),
  ),
  ...ofTable(
    'sessions',
    'expiry_finalized model* system_prompt* parent_session_id started_at ended_at end_reason *_count',
    RUNNING,
  ),
  ...ofTable(
    'sessions',
    '*_tokens cwd git_* billing_* *_cost_usd cost_* pricing_version title_source last_* handoff_*',
    RUNNING,
  ),
  ...ofTable('sessions', 'compression_* *profile* archived pinned hidden tool_names', RUNNING),
  'async_delegations/**': left('work that its agents had given to helpers'),
  'messages_fts*/**': ignored('an index of its messages'),
  ...each(
    ['schema_version', 'system_prompts', 'session_model_usage', 'state_meta', 'gateway_*']
      .concat('conversation_generations', 'compression_locks', 'session_turn_leases')
      .concat('telegram_dm_topic_*')
      .map((name) => `${name}/**`),
    RUNNING,
  ),
};

const Config = z.looseObject({
  model: z
    .union([
      text(500),
      z.looseObject({ default: text(500).nullish(), provider: text(100).nullish() }),
    ])
    .nullish(),
  timezone: text(100).nullish(),
});
const Origin = z.looseObject({
  session_id: text(200),
  origin: z
    .looseObject({
      platform: text(100),
      chat_id: z.union([text(500), z.number()]),
      chat_name: text(1_000).nullish(),
      chat_type: text(50).nullish(),
    })
    .nullish(),
});

function readStore(context: SourceContext, store: string | null): SourceState {
  const { root } = context;
  const database = store === null ? null : openSourceDatabase(store, context.workDir);
  if (database !== null && !hasMessages(database)) {
    database.close();
    throw new ImportRefused(
      `${store} has no messages as Hermes stores them up to now: its schema is not known here. Update Patchclaw (npx claw update), then import again.`,
    );
  }
  const settings: unknown = parse(readSourceText(join(root, 'config.yaml')) ?? '', {
    maxAliasCount: 10,
  });
  const config = Config.safeParse(settings).data;
  const env = settingsIn(root);
  const timeZone = config?.timezone || context.timeZone;
  const index = readSourceJson(
    join(root, 'sessions/sessions.json'),
    z.record(text(1_000), z.unknown()),
  );
  const chats = new Map<string, SourceChat>();
  for (const raw of Object.values(index ?? {})) {
    const entry = Origin.safeParse(raw).data;
    if (!entry?.origin) continue;
    const { platform, chat_id: id, chat_name: name = null, chat_type: type } = entry.origin;
    const kind = type === 'dm' || type === 'direct' ? ('direct' as const) : ('group' as const);
    chats.set(entry.session_id, chatOfPeer({ channel: platform, kind, id: String(id), name }));
  }
  const groups = groupsOf([...chats.values()]);
  const folderOf = (delivery: Delivery) =>
    groups.find(({ jid }) => delivery !== null && jid.endsWith(`:${delivery.to}`))?.folder ?? null;
  const jobs = tasksOfJobs(
    hermesJobs(readSourceJson(join(root, 'cron/jobs.json'), z.unknown())),
    timeZone,
    folderOf,
  );
  const files = readFiles(root);
  const { model } = config ?? {};
  const named = typeof model === 'string' ? model : model?.default;
  const chosen = modelSetting(named);
  return {
    product: 'hermes',
    version: store === null ? 'with files' : 'with SQLite',
    assistantName: null,
    timeZone,
    chats: [...new Map([...chats.values()].map((chat) => [chat.jid, chat])).values()],
    groups: [...mainGroup('hermes', groups, true), ...groups],
    countMessages: 0,
    messages: () => (database === null ? [] : readMessages(database, chats)),
    tasks: jobs.tasks,
    files: files.files,
    settings: [...env.settings, ...chosen.settings],
    link: null,
    leftBehind: [
      ...env.leftBehind,
      ...jobs.leftBehind,
      ...files.leftBehind,
      ...chosen.leftBehind,
      ...filesLeft(root, FILES),
      ...keysLeft(settings, 'config.yaml', KEYS),
      ...tablesLeft(database === null ? [] : [database], 'state.db', TABLES),
    ],
    close: () => void database?.close(),
  };
}

function hasMessages(database: Database): boolean {
  const columns = columnsOf(database, 'messages');
  return ['id', 'session_id', 'role', 'content', 'timestamp'].every((name) => columns.has(name));
}

const Row = z.object({
  id: z.union([z.int(), text(200)]),
  session_id: text(200),
  role: text(50),
  content: text(16_777_216).nullable(),
  timestamp: z.union([z.number(), text(100)]).nullable(),
});

/** Conversations on the command line were the owner's with Hermes alone: they are found in the own chat. */
function* readMessages(
  database: Database,
  chats: ReadonlyMap<string, SourceChat>,
): Iterable<SourceMessage> {
  const own = { jid: 'hermes:main', channel: 'hermes', name: null, isDirect: true };
  const rows = database.prepare(
    'SELECT id, session_id, role, content, timestamp FROM messages ORDER BY timestamp, id',
  );
  for (const raw of rows.iterate()) {
    const { id, session_id: session, role, content, timestamp } = Row.parse(raw);
    const chat = chats.get(session) ?? own;
    const at = momentOfAny(timestamp) ?? 0;
    const entry = { id: `${session}/${id}`, role, content, at };
    const message = messageOf(chat, entry, chat === own);
    if (message !== null) yield message;
  }
}

function groupsOf(chats: readonly SourceChat[]): readonly SourceGroup[] {
  return [...new Map(chats.map((chat) => [chat.jid, chat])).values()].map((chat) => ({
    ...chat,
    folder: `${chat.channel}-${chat.name ?? chat.jid.replace(/^\w+:/, '')}`,
    isMain: false,
    needsTrigger: !chat.isDirect,
    triggerWord: null,
    allow: null,
  }));
}

const HermesJob = z.looseObject({
  prompt: text().nullish(),
  schedule: z
    .looseObject({ kind: text(50), minutes: z.number().nullish(), run_at: text(100).nullish() })
    .nullish(),
  next_run_at: text(100).nullish(),
  last_run_at: text(100).nullish(),
  created_at: text(100).nullish(),
});

/** Writes the jobs of Hermes as those of the other gateways. */
function hermesJobs(value: unknown): unknown {
  const jobs = z.looseObject({ jobs: z.array(HermesJob).max(10_000) }).safeParse(value).data?.jobs;
  return {
    jobs: (jobs ?? []).map(({ prompt, schedule, ...job }) => ({
      ...job,
      createdAtMs: momentOfAny(job.created_at),
      payload: { message: prompt },
      schedule: {
        ...schedule,
        kind: { interval: 'every', once: 'at' }[schedule?.kind ?? ''] ?? schedule?.kind ?? '',
        everyMs: schedule?.minutes ? schedule.minutes * 60_000 : null,
        at: schedule?.run_at ?? null,
      },
      state: {
        nextRunAtMs: momentOfAny(job.next_run_at),
        lastRunAtMs: momentOfAny(job.last_run_at),
      },
    })),
  };
}

function readFiles(root: string): Pick<SourceState, 'files' | 'leftBehind'> {
  const texts = [
    { path: 'SOUL.md', folder: null, kind: 'persona' },
    { path: 'memories/USER.md', folder: 'main', kind: 'memory' },
    { path: 'memories/MEMORY.md', folder: 'main', kind: 'memory' },
  ] as const;
  const files: readonly SourceFile[] = texts.flatMap(({ path, folder, kind }) => {
    const words = readSourceText(join(root, path));
    if (words === null || words.trim() === '') return [];
    // Its entries are apart by a sign of its own.
    const bytes = Buffer.from(`${words.trim().replace(/\n?§\n?/g, '\n\n')}\n`);
    return [{ folder, kind, path: 'CLAUDE.md', key: path, content: { kind: 'bytes', bytes } }];
  });
  const skills = filesBelow(join(root, 'skills'), (path) => path.startsWith('.'));
  return {
    files: [
      ...files,
      ...copiesOf(join(root, 'skills'), skills.paths, {
        folder: null,
        below: 'skills',
        kind: 'skill',
      }),
    ],
    leftBehind: skills.leftBehind,
  };
}
