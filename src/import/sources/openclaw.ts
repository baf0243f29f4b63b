import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Database } from 'better-sqlite3';
import { parse } from 'yaml';
import { z } from 'zod';
import { MESSENGER_BOUNDS, readJsonHere } from '../../lib/bounded-json.ts';
import { text } from '../../lib/bounded-schema.ts';
import { settingsIn } from '../env-settings.ts';
import {
  ImportRefused,
  type LeftBehind,
  type Source,
  type SourceChat,
  type SourceContext,
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
const Config = z.looseObject({
  agents: z
    .looseObject({
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
    const workspace = resolve(
      root,
      (config?.agents?.defaults?.workspace ?? 'workspace').replace(/^~(?=\/)/, context.home ?? '~'),
    );
    const files = workspaceFiles(isFolder(workspace) ? workspace : join(root, 'workspace'), 'main');
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
      files: files.files,
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
        ...otherWorkspaces(root, agents),
        ...neverTaken(root),
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
    return [{ key, agent, ...found, messages }];
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
    return [{ key, agent, ...found, messages }];
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

function otherWorkspaces(root: string, agents: readonly string[]): readonly LeftBehind[] {
  return agents
    .filter((agent) => agent !== 'main' && existsSync(join(root, `workspace-${agent}`)))
    .map((agent) => ({
      what: `workspace-${agent}`,
      why: 'the memory of a second agent: copy what you want of it into groups/<chat>/',
    }));
}

function neverTaken(root: string): readonly LeftBehind[] {
  const why = 'programs and permissions of OpenClaw are not trusted here';
  return ['hooks', 'extensions', 'plugins', 'exec-approvals.json']
    .filter((name) => existsSync(join(root, name)))
    .map((name) => ({ what: name, why }));
}

/** Reads JSON that another program stored; null for what is damaged, or more than a message can be. */
function parsedOrNull(text: string): unknown {
  const read = readJsonHere(text, MESSENGER_BOUNDS);
  return read.kind === 'value' ? read.value : null;
}
