import { join, resolve } from 'node:path';
import type { Database } from 'better-sqlite3';
import { parse } from 'yaml';
import { z } from 'zod';
import { MESSENGER_BOUNDS, readJsonHere } from '../../lib/bounded-json.ts';
import { text } from '../../lib/bounded-schema.ts';
import { each, filesLeft, ignored, keysLeft, left, READ, type Rules } from '../accounting.ts';
import { settingsIn } from '../env-settings.ts';
import {
  ImportRefused,
  type LeftBehind,
  type Source,
  type SourceChat,
  type SourceContext,
  type SourceFile,
  type SourceGroup,
  type SourceMessage,
  type SourceState,
} from '../items.ts';
import { columnsOf, openSourceDatabase } from '../source-database.ts';
import { isFile, isFolder, namesIn, readSourceJson, readSourceText } from '../source-files.ts';
import { readWhatsAppFolder } from '../whatsapp-link.ts';
import {
  chatOfPeer,
  type Delivery,
  jsonLines,
  messageOf,
  modelSetting,
  momentOfAny,
  senderOfPeer,
  settingsOf,
  tasksOfJobs,
  workspaceFiles,
} from './gateway.ts';

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
const OF_ITSELF = left('a setting of OpenClaw itself');
const KEYS: Rules = {
  'agents/defaults/workspace': READ,
  'agents/defaults/userTimezone': READ,
  'agents/defaults/model': READ,
  'agents/defaults/model/primary': READ,
  'agents/list/*/id': READ,
  'agents/list/*/workspace': READ,
  'agents/list/*/default': ignored('the usual agent is the one called main'),
  'agents/entries/*/workspace': READ,
  'channels/*/botToken': READ,
  'channels/*/appToken': READ,
  'channels/*/token': READ,
  'channels/*/allowFrom/**': READ,
  'channels/*/groupAllowFrom/**': READ,
  'channels/*/groups/*/requireMention': READ,
  'channels/*/enabled': ignored('a channel is on here when its skill is added'),
  ...each(
    ['channels/*/dmPolicy', 'channels/*/groupPolicy'],
    left('only those who are listed may call it here: /allow'),
  ),
  ...each(['meta/**', 'wizard/**'], ignored('when OpenClaw was set up')),
  ...each(
    ['gateway', 'session', 'messages', 'commands', 'logging', 'browser', 'ui', 'auth', 'tools']
      .concat('plugins', 'hooks', 'skills', 'cron', 'web', 'discovery', 'models', 'bindings')
      .map((name) => `${name}/**`),
    OF_ITSELF,
  ),
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

const Names = z.array(z.union([text(200), z.number()])).max(10_000);
const ChannelConfig = z.looseObject({
  enabled: z.boolean().nullish(),
  botToken: z.unknown().optional(),
  appToken: z.unknown().optional(),
  token: z.unknown().optional(),
  dmPolicy: text(50).nullish(),
  groupPolicy: text(50).nullish(),
  allowFrom: Names.nullish(),
  groupAllowFrom: Names.nullish(),
  groups: z.record(text(500), z.looseObject({ requireMention: z.boolean().nullish() })).nullish(),
});
const Agent = z.looseObject({ id: text(200).nullish(), workspace: text(4_000).nullish() });
const Config = z.looseObject({
  agents: z
    .looseObject({
      list: z.array(Agent).max(1_000).nullish(),
      entries: z.record(text(200), Agent).nullish(),
      defaults: z
        .looseObject({
          workspace: text(4_000).nullish(),
          userTimezone: text(100).nullish(),
          model: z.union([text(500), z.looseObject({ primary: text(500).nullish() })]).nullish(),
        })
        .nullish(),
    })
    .nullish(),
  channels: z.record(text(100), z.unknown()).nullish(),
});
type Config = z.output<typeof Config>;

type Session = {
  readonly key: string;
  readonly agent: string;
  readonly chat: SourceChat;
  readonly isMain: boolean;
  /** The transcripts that it consists of. */
  readonly ids: readonly string[];
  messages(): Iterable<SourceMessage>;
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
    const sessions = agents.flatMap((agent) => {
      const path = agentDatabase(root, agent);
      return isFile(path)
        ? sessionsInDatabase(open(path, 'agent'), agent)
        : sessionsInFiles(root, agent);
    });
    const groups = groupsOf(sessions, config);
    const folderOf = (delivery: Delivery) => folderOfDelivery(delivery, groups);
    const jobs = isFile(statePath) ? jobsInDatabase(open(statePath, 'state')) : null;
    const ofFile = readSourceJson(join(root, 'cron/jobs.json'), z.unknown());
    const tasks = [jobs, ofFile].map((found) => tasksOfJobs(found, timeZone, folderOf));
    const folderAt = (named: string) =>
      resolve(root, named.replace(/^~(?=\/)/, context.home ?? '~'));
    const workspace = folderAt(workspaceOf(config, 'main') ?? 'workspace');
    const files = workspaceFiles(isFolder(workspace) ? workspace : join(root, 'workspace'), 'main');
    const others = otherAgents(root, { config, agents, sessions, groups, folderAt });
    const account = namesIn(join(root, 'credentials/whatsapp'))[0] ?? 'default';
    const whatsapp = readWhatsAppFolder(join(root, 'credentials/whatsapp', account));
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

/** Reads JSON with comments, commas at ends and names without quotes, as the settings of OpenClaw may be. */
function readConfig(path: string): Config | null {
  const given = readSourceText(path);
  if (given === null) return null;
  // Comments go, and a name without quotes gets the blank after its colon that YAML asks for.
  const asYaml = given.replace(
    /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\/\/[^\n]*|\/\*[\s\S]*?\*\/|(\w)\s*:(?=\S)/g,
    (_, quoted: string | undefined, nameEnd: string | undefined) =>
      quoted ?? (nameEnd === undefined ? '' : `${nameEnd}: `),
  );
  const value: unknown = parse(asYaml, { maxAliasCount: 0 });
  const config = Config.safeParse(value).data;
  if (config !== undefined) return config;
  throw new ImportRefused(`${path} cannot be read as the settings of OpenClaw.`);
}

function agentsOf(root: string): readonly string[] {
  const agents = namesIn(join(root, 'agents')).filter((name) =>
    isFolder(join(root, 'agents', name)),
  );
  // The usual agent first: the chats of others come after its own.
  return agents.toSorted((one, other) => Number(other === 'main') - Number(one === 'main'));
}

function agentDatabase(root: string, agent: string): string {
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

function sessionsInFiles(root: string, agent: string): readonly Session[] {
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

function sessionsInDatabase(database: Database, agent: string): readonly Session[] {
  if (columnsOf(database, 'session_nodes').size === 0) return [];
  const rows = database
    .prepare(
      'SELECT session_key, current_session_id, entry_json FROM session_nodes ORDER BY session_key',
    )
    .all()
    .map((row) => Node.parse(row));
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
        const lines = events.all(id).map((row) => parsedOrNull(Event.parse(row).event_json));
        if (found !== null) yield* messagesOf(lines, found, id);
      }
    }
    return [{ key, agent, ...found, ids, messages }];
  });
}

const Node = z.object({
  session_key: text(1_000),
  current_session_id: text(200).nullable(),
  entry_json: text().nullable(),
});
const Event = z.object({ event_json: text(16_777_216) });
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

/** A token is a text, `${NAME}` of the environment, or a reference of the same meaning. */
function secretIn(
  value: unknown,
  env: Readonly<Record<string, string | undefined>>,
): string | null {
  const reference = z
    .looseObject({ source: z.literal('env'), id: text(200) })
    .safeParse(value).data;
  if (reference !== undefined) return env[reference.id] ?? null;
  if (typeof value !== 'string') return null;
  const name = /^\$\{(\w+)\}$/.exec(value)?.[1];
  return name === undefined ? value : (env[name] ?? null);
}

function channelSettings(
  config: Config | null,
  env: Readonly<Record<string, string | undefined>>,
): SourceState['settings'] {
  const of = (name: string) => ChannelConfig.safeParse(config?.channels?.[name]).data;
  const [telegram, discord, slack] = ['telegram', 'discord', 'slack'].map(of);
  const listed = (names: readonly (string | number)[] | null | undefined) => {
    const known = names?.map(String) ?? [];
    return known.includes('*') ? null : known.map((name) => senderOfPeer('', name)).join(',');
  };
  return settingsOf([
    ['TELEGRAM_BOT_TOKEN', secretIn(telegram?.botToken, env)],
    ['TELEGRAM_ALLOW_FROM', listed(telegram?.allowFrom)],
    ['DISCORD_BOT_TOKEN', secretIn(discord?.token, env)],
    ['DISCORD_ALLOW_FROM', listed(discord?.allowFrom)],
    ['SLACK_BOT_TOKEN', secretIn(slack?.botToken, env)],
    ['SLACK_APP_TOKEN', secretIn(slack?.appToken, env)],
    ['SLACK_ALLOW_FROM', listed(slack?.allowFrom)],
  ]);
}

const Profiles = z.looseObject({
  profiles: z.record(
    text(500),
    z.looseObject({ type: text(50), provider: text(100), key: text(10_000).nullish() }),
  ),
});

function keysOf(
  root: string,
  agents: readonly string[],
): { readonly settings: SourceState['settings']; readonly leftBehind: readonly LeftBehind[] } {
  const profiles = agents.flatMap((agent) => {
    const path = join(root, 'agents', agent, 'agent/auth-profiles.json');
    return Object.values(readSourceJson(path, Profiles)?.profiles ?? {});
  });
  const names: Readonly<Record<string, string>> = {
    anthropic: 'ANTHROPIC_API_KEY',
    openai: 'OPENAI_API_KEY',
  };
  const isTaken = ({ type, provider, key }: (typeof profiles)[number]) =>
    type === 'api_key' && names[provider] !== undefined && !!key;
  return {
    settings: settingsOf(
      profiles.filter(isTaken).map(({ provider, key }) => [names[provider] ?? '', key]),
    ),
    leftBehind: profiles
      .filter((profile) => !isTaken(profile))
      .map(({ type, provider }) => ({
        what: `the login ${type} of ${provider}`,
        why:
          type === 'api_key'
            ? 'no setting here is of this provider: npx claw setup model'
            : 'a login of a subscription belongs to the program that made it',
      })),
  };
}

/** The workspace that the settings name for an agent; null where they name none. */
function workspaceOf(config: Config | null, agent: string): string | null {
  const { list, entries, defaults } = config?.agents ?? {};
  const own = list?.find(({ id }) => id === agent)?.workspace ?? entries?.[agent]?.workspace;
  return own ?? (agent === 'main' ? (defaults?.workspace ?? null) : null);
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

/** Names the transcripts that are of no chat: of cron jobs and hooks, and of conversations that were begun anew. */
function sessionsLeft(
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
