import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import { momentOf } from '../../host/scheduler/calendar.ts';
import { list, text } from '../../lib/bounded-schema.ts';
import {
  each,
  filesLeft,
  ignored,
  left,
  ofTable,
  READ,
  type Rules,
  tablesLeft,
} from '../accounting.ts';
import { settingsIn } from '../env-settings.ts';
import {
  type DetectedSource,
  ImportRefused,
  type LeftBehind,
  type Source,
  type SourceChat,
  type SourceContext,
  type SourceFile,
  type SourceGroup,
  type SourceMessage,
  type SourceRun,
  type SourceState,
  type SourceTask,
} from '../imported-items.ts';
import { columnOr, columnsOf, openSourceDatabase } from '../source-database.ts';
import {
  copiesOf,
  filesBelow,
  isFile,
  isFolder,
  namesIn,
  pathPart,
  readSourceJson,
  skillsIn,
} from '../source-files.ts';
import { readWhatsAppFolder } from '../whatsapp-link.ts';
import { answersInTranscripts } from './claude-transcripts.ts';
import { chatOf, isShippedSkill, NANOCLAW_FILES, NANOCLAW_RUNS } from './nanoclaw.ts';
import { readForkCode } from './nanoclaw-fork.ts';

/** NanoClaw 1: one SQLite file, `store/messages.db`, and a folder for each group. */
export const nanoclawV1: Source = {
  product: 'nanoclaw',
  detect(context) {
    const { root } = context;
    const store = join(root, 'store/messages.db');
    if (!isFile(store) || isFile(join(root, 'data/v2.db'))) return null;
    const manifest = readSourceJson(join(root, 'package.json'), Manifest);
    const version = manifest?.version ?? '1';
    if (!/^[01](\.|$)/.test(version)) {
      throw new ImportRefused(
        `${root} is NanoClaw ${version}, whose store is not known here: NanoClaw 1 and 2 can be imported. Update Patchclaw (npx claw update), then import again.`,
      );
    }
    return {
      product: 'nanoclaw',
      version,
      storeFiles: [store],
      ...NANOCLAW_RUNS,
      read: () => readStore(context, store, version),
    } satisfies DetectedSource;
  },
};

const FILES: Rules = {
  ...each(['store/messages.db', 'store/messages.db-wal', 'store/messages.db-shm'], READ),
  'data/sessions/*/.claude/skills/**': READ,
  'data/sessions/*/.claude/projects/*/*.jsonl': READ,
  'data/sessions/*/.claude/projects/**': ignored('what Claude Code derives from its transcripts'),
  ...each(
    ['settings*.json', 'statsig/**', 'todos/**', 'debug/**', 'shell-snapshots/**', 'cache/**']
      .concat('backups/**', 'plans/**', 'session-env/**', 'telemetry/**', '.claude.json*')
      .map((name) => `data/sessions/*/.claude/${name}`),
    ignored('working files of Claude Code'),
  ),
  'data/sessions/*/agent-runner-src/**': ignored('a copy of its code'),
  ...each(
    ['router_state', 'sessions', 'registered_groups'].map((name) => `data/${name}.json.migrated`),
    ignored('moved into its database'),
  ),
  ...NANOCLAW_FILES,
};

const TABLES: Rules = {
  ...ofTable('chats', 'jid name channel is_group'),
  'chats/last_message_time': ignored('the history tells it'),
  ...ofTable('messages', 'id chat_jid sender sender_name content timestamp is_from_me'),
  'messages/is_bot_message': READ,
  'messages/reply_to_*': left('what somebody quoted; the messages themselves come'),
  ...ofTable('registered_groups', 'jid name folder trigger_pattern requires_trigger is_main'),
  'registered_groups/added_at': ignored('when it was registered there'),
  'registered_groups/container_config': left(
    'its containers are not those here; folders are shared by your own hand: docs/groups.md, mounts.yaml',
  ),
  ...ofTable('scheduled_tasks', 'id group_folder prompt schedule_type schedule_value next_run'),
  ...ofTable('scheduled_tasks', 'last_run status created_at context_mode script'),
  'scheduled_tasks/chat_jid': ignored('a task answers in the chat of its folder'),
  'scheduled_tasks/last_result': ignored('its last runs tell it'),
  ...ofTable('task_run_logs', 'id task_id run_at duration_ms status result error'),
  'router_state/**': ignored('how far it had read'),
  'sessions/**': ignored('which transcript was the newest'),
};

const Manifest = z.object({ version: text(100).optional() });
const Entry = z.object({ allow: z.union([z.literal('*'), list(text(200))]) });
const AllowList = z.object({ default: Entry, chats: z.record(text(500), Entry).default({}) });

function readStore(context: SourceContext, store: string, version: string): SourceState {
  const { root, home, timeZone: machineZone } = context;
  const database = openSourceDatabase(store, context.workDir);
  if (columnsOf(database, 'registered_groups').size === 0) {
    database.close();
    throw new ImportRefused(
      `${store} has no table registered_groups: this NanoClaw is older than its SQLite store. Start a NanoClaw of 1.0 or newer there once, which moves its files into it, then import again.`,
    );
  }
  const env = settingsIn(root);
  const timeZone = env.values['TZ'] || machineZone;
  const assistantName = env.values['ASSISTANT_NAME'] || 'Andy';
  const chats = readChats(database);
  const allowPath = home === null ? null : join(home, '.config/nanoclaw/sender-allowlist.json');
  const allowList = allowPath === null ? null : readSourceJson(allowPath, AllowList);
  const groups = readGroups(database, chats, allowList);
  const { link, leftBehind: ofLink } = readWhatsAppFolder(join(root, 'store/auth'));
  const files = readFiles(root, groups);
  const count = database.prepare('SELECT count(*) FROM messages').pluck().get();
  return {
    product: 'nanoclaw',
    version,
    assistantName,
    timeZone,
    chats,
    groups,
    countMessages: Number(count),
    messages: () =>
      withAnswers(readMessages(database, { chats, groups, assistantName }), () =>
        answersNotStored(root, database, { groups, assistantName }),
      ),
    tasks: readTasks(database, timeZone),
    files: files.files,
    settings: env.settings,
    link,
    code: readForkCode(root),
    leftBehind: [
      ...env.leftBehind,
      ...ofLink,
      ...files.leftBehind,
      ...ofMounts(context, groups),
      ...filesLeft(root, FILES),
      ...tablesLeft([database], 'store/messages.db', TABLES),
    ],
    close: () => void database.close(),
  };
}

const ChatRow = z.object({
  jid: text(500),
  name: text(1_000).nullable(),
  channel: text(100).nullable(),
  is_group: z.int().nullable(),
});

function readChats(database: Database): readonly SourceChat[] {
  const columns = columnsOf(database, 'chats');
  const select = `SELECT jid, name, ${columnOr(columns, 'channel', 'NULL')}, ${columnOr(columns, 'is_group', 'NULL')} FROM chats ORDER BY jid`;
  return database
    .prepare(select)
    .all()
    .map((row) => ChatRow.parse(row))
    .filter(({ jid }) => jid !== '__group_sync__')
    .map(({ jid, name, channel, is_group: isGroup }) =>
      chatOf({
        jid,
        channel,
        name: name === jid ? null : name,
        isGroup: isGroup === null ? null : isGroup === 1,
      }),
    );
}

const GroupRow = z.object({
  jid: text(500),
  name: text(1_000),
  folder: pathPart(),
  trigger_pattern: text(1_000),
  requires_trigger: z.int().nullable(),
  is_main: z.int().nullable(),
});

function readGroups(
  database: Database,
  chats: readonly SourceChat[],
  allowList: z.output<typeof AllowList> | null,
): readonly SourceGroup[] {
  const columns = columnsOf(database, 'registered_groups');
  const select = `SELECT jid, name, folder, trigger_pattern,
    ${columnOr(columns, 'requires_trigger', '1')}, ${columnOr(columns, 'is_main', 'NULL')}
    FROM registered_groups ORDER BY added_at, jid`;
  return database
    .prepare(select)
    .all()
    .map((raw) => {
      const row = GroupRow.parse(raw);
      const made = chatOf({ jid: row.jid, channel: null, name: row.name, isGroup: null });
      const chat = chats.find(({ jid }) => jid === made.jid) ?? made;
      const isMain = row.is_main === 1 || row.folder === 'main';
      const entry = allowList === null ? null : (allowList.chats[row.jid] ?? allowList.default);
      const allowed = entry?.allow ?? null;
      return {
        ...chat,
        name: row.name,
        folder: row.folder,
        isMain,
        needsTrigger: !isMain && row.requires_trigger !== 0,
        triggerWord: row.trigger_pattern === '' ? null : row.trigger_pattern,
        allow: allowed === '*' ? ('everybody' as const) : allowed,
      };
    });
}

const MessageRow = z.object({
  id: text(500),
  chat_jid: text(500),
  sender: text(500).nullable(),
  sender_name: text(1_000).nullable(),
  content: text().nullable(),
  timestamp: text(100).nullable(),
  is_from_me: z.int().nullable(),
  is_bot_message: z.int().nullable(),
});

function* readMessages(
  database: Database,
  known: Pick<SourceState, 'chats' | 'groups'> & { readonly assistantName: string },
): Iterable<SourceMessage> {
  const columns = columnsOf(database, 'messages');
  const prefix = `${known.assistantName}:`;
  const owned = new Set(
    known.groups.filter(({ isMain, isDirect }) => isMain && isDirect).map(({ jid }) => jid),
  );
  const rows = database.prepare(`
    SELECT id, chat_jid, sender, sender_name, content, timestamp, is_from_me,
      ${columnOr(columns, 'is_bot_message', '0')} FROM messages ORDER BY timestamp, rowid`);
  for (const raw of rows.iterate()) {
    const row = MessageRow.parse(raw);
    const { jid } = chatOf({ jid: row.chat_jid, channel: null, name: null, isGroup: null });
    const content = row.content ?? '';
    const isPrefixed = content.startsWith(prefix);
    const isAssistants = row.is_bot_message === 1 || (row.is_from_me === 1 && isPrefixed);
    yield {
      jid,
      id: row.id,
      sender: isAssistants ? null : (row.sender ?? 'unknown'),
      senderName: isAssistants ? null : row.sender_name,
      isOwner: !isAssistants && (row.is_from_me === 1 || owned.has(jid)),
      // Where it writes by the owner's own number, it says its name before each answer.
      text: isAssistants && isPrefixed ? content.slice(prefix.length).trimStart() : content,
      at: momentIn(row.timestamp) ?? 0,
    };
  }
}

/**
 * Finds answers that only the transcripts of its agents have: on most channels NanoClaw stores what people write, and
 * sends its answers without keeping them.
 */
function answersNotStored(
  root: string,
  database: Database,
  known: Pick<SourceState, 'groups'> & { readonly assistantName: string },
): readonly SourceMessage[] {
  const stored = new Set<string>();
  for (const { jid, sender, text: words } of readMessages(database, { ...known, chats: [] })) {
    if (sender === null) stored.add(`${jid}\0${words.trim()}`);
  }
  return known.groups
    .flatMap(({ folder, jid }) =>
      answersInTranscripts(join(root, 'data/sessions', folder, '.claude/projects'), jid),
    )
    .filter(({ jid, text: words }) => !stored.has(`${jid}\0${words}`))
    .toSorted((one, other) => one.at - other.at);
}

/** Puts answers between the messages, by their time. */
function* withAnswers(
  messages: Iterable<SourceMessage>,
  findAnswers: () => readonly SourceMessage[],
): Iterable<SourceMessage> {
  const answers = findAnswers();
  let next = 0;
  for (const message of messages) {
    for (; next < answers.length; next += 1) {
      const answer = answers[next];
      if (answer === undefined || answer.at >= message.at) break;
      yield answer;
    }
    yield message;
  }
  yield* answers.slice(next);
}

const TaskRow = z.object({
  id: text(200),
  group_folder: text(200),
  prompt: text(),
  schedule_type: text(50),
  schedule_value: text(1_000),
  context_mode: text(50).nullable(),
  next_run: text(100).nullable(),
  last_run: text(100).nullable(),
  status: text(50).nullable(),
  created_at: text(100).nullable(),
  script: text().nullable(),
});
const RunRow = z.object({
  run_at: text(100),
  duration_ms: z.number(),
  status: text(50),
  result: text().nullable(),
  error: text().nullable(),
});

function readTasks(database: Database, timeZone: string): readonly SourceTask[] {
  const columns = columnsOf(database, 'scheduled_tasks');
  if (columns.size === 0) return [];
  const optional = ['context_mode', 'script', 'last_run'].map((name) =>
    columnOr(columns, name, 'NULL'),
  );
  const hasRuns = columnsOf(database, 'task_run_logs').size > 0;
  const runs = hasRuns
    ? database.prepare(`SELECT run_at, duration_ms, status, result, error
    FROM task_run_logs WHERE task_id = ? ORDER BY run_at DESC, id DESC LIMIT 100`)
    : null;
  return database
    .prepare(`SELECT id, group_folder, prompt, schedule_type, schedule_value, next_run, status,
      created_at, ${optional.join(', ')} FROM scheduled_tasks ORDER BY created_at, id`)
    .all()
    .map((raw) => {
      const row = TaskRow.parse(raw);
      return {
        id: row.id,
        folder: row.group_folder,
        name: null,
        prompt: row.prompt,
        schedule: scheduleOf(row, timeZone),
        context: row.context_mode === 'group' ? 'group' : 'isolated',
        state: row.status === 'active' || row.status === 'paused' ? row.status : 'done',
        nextRun: momentIn(row.next_run),
        lastRun: momentIn(row.last_run),
        createdAt: momentIn(row.created_at),
        runs: runs?.all(row.id).map(runOf).toReversed() ?? [],
        lost: row.script ? 'the script that ran before it does not come' : null,
      } satisfies SourceTask;
    });
}

function scheduleOf(row: z.output<typeof TaskRow>, timeZone: string): SourceTask['schedule'] {
  const { schedule_type: kind, schedule_value: value } = row;
  if (kind === 'interval') return { kind: 'every', everyMs: Number(value), timeZone };
  if (kind === 'cron') return { kind: 'cron', pattern: value, timeZone };
  const next = momentIn(row.next_run);
  return { kind: 'at', at: next ?? localMoment(value, timeZone) ?? 0, timeZone };
}

/** Reads `2026-02-01T15:30:00` by the clocks of a time zone, and one with an offset as it is. */
function localMoment(value: string, timeZone: string): number | null {
  if (/(Z|[+-]\d{2}:?\d{2})$/.test(value)) return momentIn(value);
  const local = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2})?/.exec(value);
  if (local === null) return null;
  return momentOf(`${local[1]}T${local[2]}${local[3] ?? ':00'}`, timeZone);
}

function runOf(raw: unknown): SourceRun {
  const { run_at: at, duration_ms: durationMs, status, result, error } = RunRow.parse(raw);
  const summary = result ?? error ?? '';
  return { at: momentIn(at) ?? 0, durationMs, isFailed: status !== 'success', summary };
}

function momentIn(iso: string | null): number | null {
  const moment = iso === null ? Number.NaN : Date.parse(iso);
  return Number.isNaN(moment) ? null : moment;
}

/** Reads the folders of the groups, what all of them share, and the skills that their agents were given. */
function readFiles(
  root: string,
  groups: readonly SourceGroup[],
): { readonly files: readonly SourceFile[]; readonly leftBehind: readonly LeftBehind[] } {
  const folders = new Set(groups.map(({ folder }) => folder));
  const names = namesIn(join(root, 'groups')).filter((name) =>
    isFolder(join(root, 'groups', name)),
  );
  const unregistered = names.filter((name) => name !== 'global' && !folders.has(name));
  const found = [...folders, 'global'].map((name) => {
    const from = join(root, 'groups', name);
    const to = name === 'global' ? null : name;
    const isLog = (path: string) => path === 'logs' || path.endsWith('.log');
    const { paths, leftBehind } = filesBelow(from, isLog);
    const kindOf = (path: string) => (path === 'CLAUDE.md' ? 'memory' : 'file');
    const files = paths.flatMap((path) =>
      copiesOf(from, [path], { folder: to, kind: kindOf(path) }),
    );
    const made = join(root, 'data/sessions', name, '.claude/skills');
    const skills = skillsIn(made, to, isShippedSkill);
    return {
      files: [...files, ...skills.files],
      leftBehind: [...leftBehind, ...skills.leftBehind],
    };
  });
  const shared = skillsIn(join(root, 'container/skills'), null, isShippedSkill);
  return {
    files: [...found.flatMap(({ files }) => files), ...shared.files],
    leftBehind: [
      ...found.flatMap(({ leftBehind }) => leftBehind),
      ...shared.leftBehind,
      ...(![...folders].some((name) => isFolder(join(root, 'groups', name, 'logs')))
        ? []
        : [{ what: 'the folders logs/', why: 'they tell about the old programs only' }]),
      ...namesIn(join(root, 'data/sessions'))
        .filter((name) => name !== 'global' && !folders.has(name))
        .map((name) => ({
          what: `data/sessions/${name}`,
          why: 'no chat there is registered for this folder',
        })),
      ...unregistered.map((name) => ({
        what: `groups/${name}`,
        why: 'no chat there is registered for this folder',
      })),
    ],
  };
}

function ofMounts({ home }: SourceContext, groups: readonly SourceGroup[]): readonly LeftBehind[] {
  const path = home === null ? null : join(home, '.config/nanoclaw/mount-allowlist.json');
  if (groups.length === 0 || path === null || !isFile(path)) return [];
  const why =
    'folders outside the project are shared by your own hand: docs/groups.md, mounts.yaml';
  return [{ what: path, why }];
}
