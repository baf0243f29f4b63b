import { join, relative, resolve } from 'node:path';
import type { Database } from 'better-sqlite3';
import { z } from 'zod';
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
  type LeftBehind,
  type Source,
  type SourceContext,
  type SourceFile,
  type SourceGroup,
  type SourceState,
} from '../imported-items.ts';
import { columnsOf, openSourceDatabase } from '../source-database.ts';
import { isFile, isFolder, namesIn, readSourceJson } from '../source-files.ts';
import { readWhatsAppFolder } from '../whatsapp-link.ts';
import {
  chatOfPeer,
  type Delivery,
  modelSetting,
  senderOfPeer,
  tasksOfJobs,
  workspaceFiles,
} from './gateway.ts';
import {
  agentDatabase,
  agentsOf,
  SESSION_TABLES,
  type Session,
  sessionsInDatabase,
  sessionsInFiles,
  sessionsLeft,
} from './openclaw-sessions.ts';
import {
  ChannelConfig,
  type Config,
  channelSettings,
  KEYS,
  keysOf,
  readConfig,
  workspaceOf,
} from './openclaw-settings.ts';

const NOT_TRUSTED = left('programs and permissions of OpenClaw are not trusted here');
const FILES: Rules = {
  ...each([...['openclaw.json', 'clawdbot.json', 'moltbot.json'], '.env'], READ),
  ...each(['workspace/**', 'workspace-*/**', 'credentials/whatsapp/*/**', 'cron/jobs.json'], READ),
  'agents/*/agent/openclaw-agent.sqlite*': READ,
  'state/openclaw.sqlite*': READ,
  'agents/*/agent/auth-profiles.json': READ,
  'agents/*/sessions/sessions.json': READ,
  'agents/*/sessions/*.jsonl': READ,
  'agents/*/sessions/session-sqlite-import-archive/**': ignored('moved into its database'),
  'agents/*/agent/models.json': left('models are set here by name: npx claw setup model'),
  'cron/runs/**': left('what earlier runs of its jobs said'),
  'credentials/*.json': left('pairings and logins are made anew: docs/groups.md'),
  'media/**': left('files that people sent; the history has their words'),
  ...each(['memory/**', 'cache/**', 'tmp/**'], ignored('derived from the workspace')),
  ...each(['*.bak', '*.bak.*', '*.lock', 'logs/**'], ignored('of its own running')),
  ...each(['hooks/**', 'extensions/**', 'plugins/**', 'exec-approvals.json'], NOT_TRUSTED),
};
const STATE_TABLES: Rules = {
  ...ofTable('cron_jobs', 'job_id name enabled created_at_ms schedule_kind schedule_expr'),
  ...ofTable('cron_jobs', 'schedule_tz every_ms anchor_ms at session_target payload_message'),
  ...ofTable('cron_jobs', 'delivery_channel delivery_to next_run_at_ms last_run_at_ms'),
  ...ofTable('cron_jobs', 'job_json state_json', ignored('copies of what its columns say')),
  ...ofTable(
    'cron_jobs',
    'store_key sort_order *updated_at* schedule_identity running_at_ms wake_mode stagger_ms',
    ignored('of its own running'),
  ),
  ...ofTable(
    'cron_jobs',
    'payload_kind last_* consecutive_* schedule_error_count delete_after_run',
    ignored('of its own running'),
  ),
  'cron_jobs/description': left('a task has a name and a prompt here'),
  ...ofTable(
    'cron_jobs',
    'agent_id session_key delivery_* failure_*',
    left('a task answers in its chat'),
  ),
  'cron_jobs/payload_*': left('a task runs with the model and the tools of its chat'),
  'cron_run_logs/**': left('what earlier runs of its jobs said'),
  'schema_meta/**': ignored('the version of its tables'),
};

/** The newest schemas that are known: `PRAGMA user_version` of an agent's database and of the state's. */
const NEWEST = { agent: 17, state: 9 } as const;
const CONFIGS = ['openclaw.json', 'clawdbot.json', 'moltbot.json'];

/** OpenClaw, before and after its sessions and cron jobs moved into SQLite. */
export const openclaw: Source = {
  product: 'openclaw',
  detect(context) {
    const { root } = context;
    const config = CONFIGS.find((name) => isFile(join(root, name)));
    const state = join(root, 'state/openclaw.sqlite');
    if (config === undefined && !isFile(state)) return null;
    const databases = agentsOf(root).map((agent) => agentDatabase(root, agent));
    const storeFiles = [state, ...databases].filter(isFile);
    return {
      product: 'openclaw',
      version: storeFiles.length === 0 ? 'with files' : 'with SQLite',
      storeFiles,
      units: [/^(ai\.|com\.)?(openclaw|clawdbot|moltbot)([-.][\w.-]+)?$/],
      containerPrefixes: ['openclaw'],
      commands: [/\b(openclaw|clawdbot|moltbot)(\.m?js)?\s+gateway\b/, /^openclaw-gateway\b/],
      read: () => readStore(context, config ?? null, state),
    };
  },
};

function readStore(
  context: SourceContext,
  configName: string | null,
  statePath: string,
): SourceState {
  const { root, workDir } = context;
  const opened: Database[] = [];
  const open = (path: string, kind: keyof typeof NEWEST): Database => {
    const database = openSourceDatabase(path, workDir);
    opened.push(database);
    const version = Number(database.pragma('user_version', { simple: true }));
    if (version > NEWEST[kind]) {
      throw new ImportRefused(
        `${path} has OpenClaw's ${kind} schema ${version}; up to ${NEWEST[kind]} is known here. Update Patchclaw (npx claw update), then import again.`,
      );
    }
    return database;
  };
  try {
    const config = readConfig(join(root, configName ?? ''));
    const env = settingsIn(root);
    const timeZone = config?.agents?.defaults?.userTimezone ?? context.timeZone;
    const agents = agentsOf(root);
    const tables: LeftBehind[] = [];
    const account = (database: Database, path: string, rules: Rules): Database => {
      tables.push(...tablesLeft([database], relative(root, path), rules));
      return database;
    };
    const sessions = agents.flatMap((agent) => {
      const path = agentDatabase(root, agent);
      if (!isFile(path)) return sessionsInFiles(root, agent);
      return sessionsInDatabase(account(open(path, 'agent'), path, SESSION_TABLES), agent);
    });
    const groups = groupsOf(sessions, config);
    const folderOf = (delivery: Delivery) => folderOfDelivery(delivery, groups);
    const jobs = isFile(statePath)
      ? jobsInDatabase(account(open(statePath, 'state'), statePath, STATE_TABLES))
      : null;
    const ofFile = readSourceJson(join(root, 'cron/jobs.json'), z.unknown());
    const tasks = [jobs, ofFile].map((found) => tasksOfJobs(found, timeZone, folderOf));
    const folderAt = (named: string) =>
      resolve(root, named.replace(/^~(?=\/)/, context.home ?? '~'));
    const workspace = folderAt(workspaceOf(config, 'main') ?? 'workspace');
    const files = workspaceFiles(isFolder(workspace) ? workspace : join(root, 'workspace'), 'main');
    const others = otherAgents(root, { config, agents, sessions, groups, folderAt });
    const first = namesIn(join(root, 'credentials/whatsapp'))[0] ?? 'default';
    const whatsapp = readWhatsAppFolder(join(root, 'credentials/whatsapp', first));
    const primary = config?.agents?.defaults?.model;
    const model = modelSetting(typeof primary === 'string' ? primary : primary?.primary);
    const keys = keysOf(root, agents);
    const chats = [...new Map(sessions.map(({ chat }) => [chat.jid, chat])).values()];
    return {
      product: 'openclaw',
      version: opened.length === 0 ? 'with files' : 'with SQLite',
      assistantName: null,
      timeZone,
      chats,
      groups,
      countMessages: 0,
      *messages() {
        for (const session of sessions) yield* session.messages();
      },
      tasks: uniqueById(tasks.flatMap((found) => found.tasks)),
      files: [...files.files, ...others.files],
      settings: [
        ...env.settings,
        ...channelSettings(config, env.values),
        ...model.settings,
        ...keys.settings,
      ].filter(isFirstOfName),
      link: whatsapp.link,
      leftBehind: [
        ...env.leftBehind,
        ...files.leftBehind,
        ...tasks.flatMap((found) => found.leftBehind),
        ...whatsapp.leftBehind,
        ...model.leftBehind,
        ...keys.leftBehind,
        ...others.leftBehind,
        ...namesIn(join(root, 'credentials/whatsapp'))
          .slice(1)
          .map((name) => ({
            what: `credentials/whatsapp/${name}`,
            why: 'one account of WhatsApp comes, the first',
          })),
        ...sessionsLeft(root, agents, sessions),
        ...filesLeft(root, FILES),
        ...keysLeft(config, configName ?? 'openclaw.json', KEYS),
        ...tables,
      ],
      close: () => {
        for (const database of opened) database.close();
      },
    };
  } catch (error) {
    for (const database of opened) database.close();
    throw error;
  }
}

function groupsOf(sessions: readonly Session[], config: Config | null): readonly SourceGroup[] {
  const seen = new Set<string>();
  return sessions.flatMap(({ chat, isMain, agent }) => {
    if (seen.has(chat.jid)) return [];
    seen.add(chat.jid);
    const channel = ChannelConfig.safeParse(config?.channels?.[chat.channel]).data;
    const id = chat.jid.startsWith(`${chat.channel}:`)
      ? chat.jid.slice(chat.channel.length + 1)
      : chat.jid;
    const own = channel?.groups?.[id] ?? channel?.groups?.['*'];
    const listed = channel?.groupAllowFrom ?? channel?.allowFrom ?? null;
    const allow = listed?.map(String) ?? null;
    const plain = `${chat.channel}-${chat.name ?? id}`;
    return [
      {
        ...chat,
        folder: isMain ? 'main' : agent === 'main' ? plain : `${agent}-${plain}`,
        isMain,
        needsTrigger: !chat.isDirect && own?.requireMention !== false,
        triggerWord: null,
        allow:
          allow === null || allow.includes('*')
            ? null
            : allow.map((one) => senderOfPeer(chat.channel, one)),
      },
    ];
  });
}

function folderOfDelivery(delivery: Delivery, groups: readonly SourceGroup[]): string | null {
  if (delivery === null) return null;
  const { channel, to } = delivery;
  const addresses = (['direct', 'group'] as const).map(
    (kind) => chatOfPeer({ channel, kind, id: to, name: null }).jid,
  );
  return groups.find(({ jid }) => addresses.includes(jid))?.folder ?? null;
}

/** Makes of the rows of cron jobs what `cron/jobs.json` held before them. */
function jobsInDatabase(database: Database): unknown {
  const columns = columnsOf(database, 'cron_jobs');
  if (columns.size === 0) return null;
  const rows = database.prepare('SELECT * FROM cron_jobs').all() as Record<string, unknown>[];
  return {
    jobs: rows.map((row) => ({
      id: row['job_id'],
      name: row['name'],
      enabled: row['enabled'] !== 0,
      createdAtMs: row['created_at_ms'] ?? null,
      schedule: {
        kind: row['schedule_kind'],
        expr: row['schedule_expr'],
        tz: row['schedule_tz'],
        everyMs: row['every_ms'],
        anchorMs: row['anchor_ms'],
        at: row['at'],
      },
      sessionTarget: row['session_target'],
      payload: { message: row['payload_message'] },
      delivery: { channel: row['delivery_channel'], to: row['delivery_to'] },
      state: {
        nextRunAtMs: row['next_run_at_ms'] ?? null,
        lastRunAtMs: row['last_run_at_ms'] ?? null,
      },
    })),
  };
}

function uniqueById<T extends { readonly id: string }>(items: readonly T[]): readonly T[] {
  return [...new Map(items.toReversed().map((item) => [item.id, item])).values()].toReversed();
}

function isFirstOfName(
  setting: { readonly name: string },
  at: number,
  all: readonly { readonly name: string }[],
): boolean {
  return all.findIndex(({ name }) => name === setting.name) === at;
}

/**
 * Reads the workspaces of further agents. An agent is a chat with a memory of its own here: its persona, memory and files
 * come into each chat in which only it answered.
 */
function otherAgents(
  root: string,
  from: {
    readonly config: Config | null;
    readonly agents: readonly string[];
    readonly sessions: readonly Session[];
    readonly groups: readonly SourceGroup[];
    folderAt(named: string): string;
  },
): { readonly files: readonly SourceFile[]; readonly leftBehind: readonly LeftBehind[] } {
  const { config, agents, sessions, groups, folderAt } = from;
  const { list = [], entries = {} } = config?.agents ?? {};
  const named = [...(list ?? []).map(({ id }) => id ?? ''), ...Object.keys(entries ?? {})];
  const stored = namesIn(root).flatMap((name) => /^workspace-(.+)$/.exec(name)?.[1] ?? []);
  const others = [...new Set([...agents, ...named, ...stored])].filter(
    (agent) => agent !== 'main' && agent !== '',
  );
  const found = others.map((agent) => {
    const workspace = folderAt(workspaceOf(config, agent) ?? `workspace-${agent}`);
    const what = `the agent ${agent}`;
    if (!isFolder(workspace)) {
      const why = 'it has no workspace of its own; the chats in which it answered come';
      return { files: [], leftBehind: [{ what, why }] };
    }
    const own = groups.filter(
      ({ jid, isMain }) =>
        !isMain && sessions.find(({ chat }) => chat.jid === jid)?.agent === agent,
    );
    if (own.length === 0) {
      const why = `no chat is its own: copy what you want of ${workspace} into groups/<chat>/`;
      return { files: [], leftBehind: [{ what, why }] };
    }
    const parts = own.map(({ folder }) => workspaceFiles(workspace, folder));
    return {
      // What says who it is holds in its own chats alone, and its skills too.
      files: parts.flatMap(({ files }, at) =>
        files.map((file) => ({ ...file, folder: file.folder ?? own[at]?.folder ?? null })),
      ),
      leftBehind: parts.flatMap(({ leftBehind }) => leftBehind),
    };
  });
  return {
    files: found.flatMap(({ files }) => files),
    leftBehind: found.flatMap(({ leftBehind }) => leftBehind),
  };
}
