import { join, relative, resolve } from 'node:path';
import { z } from 'zod';
import { text } from '../../lib/bounded-schema.ts';
import { each, filesLeft, ignored, keysLeft, left, READ, type Rules } from '../accounting.ts';
import { settingsIn } from '../env-settings.ts';
import type {
  Product,
  Source,
  SourceChat,
  SourceContext,
  SourceGroup,
  SourceMessage,
  SourceState,
} from '../imported-items.ts';
import { isFile, isFolder, namesIn, readSourceJson } from '../source-files.ts';
import { readWhatsAppFolder } from '../whatsapp-link.ts';
import {
  camelCased,
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

/** nanobot: a workspace, sessions as JSONL files, and cron jobs in a JSON file. */
export const nanobot = layoutOf('nanobot', {
  units: [/^(ai\.|com\.)?nanobot([-.][\w.-]+)?$/],
  commands: [/\bnanobot\s+gateway\b/],
});

/** clawft: the layout of nanobot, with names in either case. */
export const clawft = layoutOf('clawft', {
  units: [/^(ai\.|com\.)?(clawft|weft)([-.][\w.-]+)?$/],
  commands: [/\b(weft|clawft)\s+gateway\b/],
});

const Channel = z.looseObject({
  token: text(1_000).nullish(),
  botToken: text(1_000).nullish(),
  appToken: text(1_000).nullish(),
  allowFrom: z
    .array(z.union([text(200), z.number()]))
    .max(10_000)
    .nullish(),
});
const Config = z.looseObject({
  agents: z
    .looseObject({
      defaults: z
        .looseObject({ workspace: text(4_000).nullish(), model: text(500).nullish() })
        .nullish(),
    })
    .nullish(),
  providers: z.record(text(100), z.looseObject({ apiKey: text(10_000).nullish() })).nullish(),
  channels: z.record(text(100), z.unknown()).nullish(),
});
type Config = z.output<typeof Config>;

const RUNS_OF_JOBS = left('what earlier runs of its jobs said');
const FILES: Rules = {
  ...each(['config.json', '.env', 'cron/jobs.json', 'sessions/*.jsonl'], READ),
  'whatsapp-auth/**': READ,
  'cron/**': RUNS_OF_JOBS,
  'media/**': left('files that people sent; the history has their words'),
  ...each(['logs/**', 'history/**', 'bridge/**'], ignored('of its own running')),
};
const WORKSPACE_FILES: Rules = { 'cron/jobs.json': READ, 'cron/**': RUNS_OF_JOBS, '*/**': READ };
const KEYS: Rules = {
  'agents/defaults/workspace': READ,
  'agents/defaults/model': READ,
  'providers/*/apiKey': READ,
  ...each(
    ['token', 'botToken', 'appToken'].map((name) => `channels/*/${name}`),
    READ,
  ),
  'channels/*/allowFrom/**': READ,
  'channels/*/enabled': ignored('a channel is on here when its skill is added'),
  'agents/defaults/*': left('Patchclaw has no setting of this meaning'),
  ...each(['gateway/**', 'tools/**'], left('a setting of its own running')),
};

function layoutOf(
  product: Extract<Product, 'nanobot' | 'clawft'>,
  runs: { readonly units: readonly RegExp[]; readonly commands: readonly RegExp[] },
): Source {
  return {
    product,
    detect(context) {
      const { root } = context;
      // Both have the same files: the folder's own name tells which it is, and --from where that says nothing.
      const isNamed = root.split('/').at(-1)?.replace(/^\./, '').startsWith(product) === true;
      const isWanted = isNamed || context.from === product;
      if (!isWanted || !isFile(join(root, 'config.json'))) return null;
      if (!isFolder(workspaceOf(context, configOf(root)).path)) return null;
      return {
        product,
        version: 'with files',
        storeFiles: [],
        ...runs,
        containerPrefixes: [product],
        read: () => readStore(context, product),
      };
    },
  };
}

function configOf(root: string): Config | null {
  return (
    Config.safeParse(camelCased(readSourceJson(join(root, 'config.json'), z.unknown()))).data ??
    null
  );
}

type Workspace = {
  readonly path: string;
  /** Of the usual workspace and the one that the settings name, the one that does not come. */
  readonly left: { readonly path: string; readonly why: string } | null;
};

function workspaceOf({ root, home }: SourceContext, config: Config | null): Workspace {
  const usual = join(root, 'workspace');
  const named = config?.agents?.defaults?.workspace;
  if (!named) return { path: usual, left: null };
  const path = resolve(root, named.replace(/^~(?=\/)/, home ?? '~'));
  if (path === usual) return { path, left: null };
  if (!isFolder(path)) {
    const why = 'its settings name this workspace, and there is no such folder';
    return { path: usual, left: { path, why } };
  }
  if (!isOutside(path, root)) {
    const why = 'its settings name this workspace, which holds its keys too';
    return { path: usual, left: { path, why } };
  }
  const why = `its settings name another workspace, ${path}; copy what you want into groups/main/`;
  return { path, left: isFolder(usual) ? { path: usual, why } : null };
}

/** Tells whether a path is not a folder, nor anything below it. */
function isOutside(folder: string, path: string): boolean {
  return /^\.\.(\/|$)/.test(relative(folder, path));
}

type Session = {
  readonly key: string;
  readonly chat: SourceChat;
  readonly path: string;
};

function readStore(context: SourceContext, product: Product): SourceState {
  const { root, timeZone } = context;
  const raw = readSourceJson(join(root, 'config.json'), z.unknown());
  const config = configOf(root);
  const env = settingsIn(root);
  const workspace = workspaceOf(context, config);
  const folders = [join(workspace.path, 'sessions'), join(root, 'sessions')];
  const sessions = folders.flatMap(sessionsIn);
  const groups = groupsOf(sessions, config);
  const folderOf = (delivery: Delivery) => {
    if (delivery === null) return null;
    const jids = (['direct', 'group'] as const).map(
      (kind) => chatOfPeer({ channel: delivery.channel, kind, id: delivery.to, name: null }).jid,
    );
    return groups.find(({ jid }) => jids.includes(jid))?.folder ?? null;
  };
  const jobs = [root, workspace.path].map((folder) =>
    tasksOfJobs(readSourceJson(join(folder, 'cron/jobs.json'), z.unknown()), timeZone, folderOf),
  );
  const files = workspaceFiles(workspace.path, 'main');
  const whatsapp = readWhatsAppFolder(join(root, 'whatsapp-auth'));
  const model = modelSetting(config?.agents?.defaults?.model);
  const main = mainGroup(
    product,
    groups,
    files.files.length > 0 || jobs.some(({ tasks }) => tasks.length > 0),
  );
  return {
    product,
    version: 'with files',
    assistantName: null,
    timeZone,
    chats: sessions.map(({ chat }) => chat),
    groups: [...main, ...groups],
    countMessages: 0,
    *messages() {
      for (const session of sessions) yield* messagesOf(session);
    },
    tasks: jobs.flatMap(({ tasks }) => tasks),
    files: files.files,
    settings: [...env.settings, ...configSettings(config), ...model.settings],
    link: whatsapp.link,
    leftBehind: [
      ...env.leftBehind,
      ...files.leftBehind,
      ...jobs.flatMap(({ leftBehind }) => leftBehind),
      ...whatsapp.leftBehind,
      ...model.leftBehind,
      ...sessionsLeft(root, folders, sessions),
      ...providersLeft(config),
      ...workspacesLeft(root, workspace),
      ...keysLeft(camelCased(raw), 'config.json', KEYS),
    ],
    close: () => {},
  };
}

const Head = z.looseObject({ _type: z.literal('metadata'), key: text(1_000).nullish() });
const Said = z.looseObject({
  role: text(50),
  content: z.unknown().optional(),
  timestamp: z.union([text(100), z.number()]).nullish(),
});

function sessionsIn(folder: string): readonly Session[] {
  return namesIn(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => {
      const path = join(folder, name);
      const [first] = jsonLines(path);
      const key = Head.safeParse(first).data?.key ?? name.slice(0, -6).replace('_', ':');
      const [, channel = '', id = ''] = /^([a-z]+):(.+)$/s.exec(key) ?? [];
      // The shell, cron jobs and the heartbeat are no chats that somebody else reads.
      if (channel === '' || ['cli', 'cron', 'heartbeat', 'system'].includes(channel)) return [];
      const isGroup =
        id.startsWith('-') || id.endsWith('@g.us') || /^(discord|slack)$/.test(channel);
      const kind = isGroup ? ('group' as const) : ('direct' as const);
      return [{ key, path, chat: chatOfPeer({ channel, kind, id, name: null }) }];
    });
}

/** Names the conversations that are of no chat. */
function sessionsLeft(
  root: string,
  folders: readonly string[],
  sessions: readonly Session[],
): SourceState['leftBehind'] {
  const read = new Set(sessions.map(({ path }) => path));
  return folders.flatMap((folder) =>
    namesIn(folder)
      .map((name) => join(folder, name))
      .filter((path) => !read.has(path))
      .map((path) => ({
        what: nameAt(root, path),
        why: 'no conversation of a chat: of its shell, of jobs, or not known here',
      })),
  );
}

/** A path below a folder by its name there, any other as it is. */
function nameAt(root: string, path: string): string {
  return isOutside(root, path) ? path : relative(root, path);
}

/** Accounts for the folder and for its workspace, which may be elsewhere. */
function workspacesLeft(
  root: string,
  { path: workspace, left: other }: Workspace,
): SourceState['leftBehind'] {
  const apart = [workspace, ...(other === null ? [] : [other.path])]
    .filter((path) => !isOutside(root, path) && path !== root)
    .map((path) => `${relative(root, path)}/**`);
  return [
    ...filesLeft(root, { ...each(apart, READ), ...FILES }),
    ...filesLeft(workspace, WORKSPACE_FILES).map(({ what, why }) => ({
      what: nameAt(root, join(workspace, what)),
      why,
    })),
    ...(other === null ? [] : [{ what: nameAt(root, other.path) || root, why: other.why }]),
  ];
}

function* messagesOf({ key, chat, path }: Session): Iterable<SourceMessage> {
  let number = 0;
  let last = 0;
  for (const raw of jsonLines(path)) {
    number += 1;
    const line = Said.safeParse(raw).data;
    if (line === undefined) continue;
    last = momentOfAny(line.timestamp) ?? last;
    const { role, content } = line;
    const id = `${key}/${line.timestamp ?? number}/${role}`;
    const message = messageOf(chat, { id, role, content, at: last }, false);
    if (message !== null) yield message;
  }
}

function groupsOf(sessions: readonly Session[], config: Config | null): readonly SourceGroup[] {
  const unique = new Map(sessions.map(({ chat }) => [chat.jid, chat]));
  return [...unique.values()].map((chat) => {
    const listed = Channel.safeParse(config?.channels?.[chat.channel]).data?.allowFrom?.map(String);
    const isOpen = listed === undefined || listed.includes('*');
    return {
      ...chat,
      folder: chat.jid.replace(/[^a-zA-Z0-9]+/g, '-').replace(/^-/, ''),
      isMain: false,
      needsTrigger: !chat.isDirect,
      triggerWord: null,
      allow: isOpen ? null : listed.map((one) => senderOfPeer(chat.channel, one)),
    };
  });
}

/** Memory and tasks belong to the owner's own chat here, which the source has no address of. */
export function mainGroup(
  product: Product,
  groups: readonly SourceGroup[],
  isNeeded: boolean,
): readonly SourceGroup[] {
  if (!isNeeded || groups.some(({ isMain }) => isMain)) return [];
  return [
    {
      ...{ jid: `${product}:main`, channel: product, name: product, isDirect: true },
      ...{ folder: 'main', isMain: true, needsTrigger: false, triggerWord: null, allow: null },
    },
  ];
}

function configSettings(config: Config | null): SourceState['settings'] {
  const of = (name: string) => Channel.safeParse(config?.channels?.[name]).data;
  const [telegram, discord, slack] = ['telegram', 'discord', 'slack'].map(of);
  const listed = (channel: z.output<typeof Channel> | undefined) => {
    const names = channel?.allowFrom?.map(String) ?? [];
    // nanobot writes a person of Telegram's as `id|name`.
    return names.includes('*') ? null : names.map((name) => name.split('|')[0]).join(',');
  };
  return settingsOf([
    ['ANTHROPIC_API_KEY', config?.providers?.['anthropic']?.apiKey],
    ['OPENAI_API_KEY', config?.providers?.['openai']?.apiKey],
    ['TELEGRAM_BOT_TOKEN', telegram?.token],
    ['TELEGRAM_ALLOW_FROM', listed(telegram)],
    ['DISCORD_BOT_TOKEN', discord?.token],
    ['DISCORD_ALLOW_FROM', listed(discord)],
    ['SLACK_BOT_TOKEN', slack?.botToken],
    ['SLACK_APP_TOKEN', slack?.appToken],
  ]);
}

function providersLeft(config: Config | null): SourceState['leftBehind'] {
  return Object.entries(config?.providers ?? {}).flatMap(([name, { apiKey }]) =>
    !apiKey || name === 'anthropic' || name === 'openai'
      ? []
      : [
          {
            what: `the key of ${name}`,
            why: 'no setting here is of this provider: npx claw setup model',
          },
        ],
  );
}
