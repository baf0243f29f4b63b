import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import { text } from '../../lib/bounded-schema.ts';
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
  ImportRefused,
  type LeftBehind,
  type Source,
  type SourceChat,
  type SourceContext,
  type SourceFile,
  type SourceGroup,
  type SourceState,
} from '../imported-items.ts';
import { columnsOf, openSourceDatabase } from '../source-database.ts';
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
import { isShippedSkill, NANOCLAW_FILES, NANOCLAW_RUNS, platformChat } from './nanoclaw.ts';
import { readForkCode } from './nanoclaw-fork.ts';
import {
  databasesOf,
  messagesOf,
  SESSION_TABLES,
  sessionsOf,
  tasksIn,
  type WiredGroup,
} from './nanoclaw-v2-sessions.ts';

/** NanoClaw 2: a database of who talks where, `data/v2.db`, and two databases for each session. */
export const nanoclawV2: Source = {
  product: 'nanoclaw',
  detect(context) {
    const { root } = context;
    const store = join(root, 'data/v2.db');
    if (!isFile(store)) return null;
    const manifest = z.object({ version: text(100).optional() });
    const version = readSourceJson(join(root, 'package.json'), manifest)?.version ?? '2';
    if (!/^2(\.|$)/.test(version)) {
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
    };
  },
};

const FILES: Rules = {
  ...each(['data/v2.db', 'data/v2.db-wal', 'data/v2.db-shm'], READ),
  'data/v2-sessions/*/*/inbound.db*': READ,
  'data/v2-sessions/*/*/outbound.db*': READ,
  'data/v2-sessions/*/*/inbox/**': left('files that people sent; the history names them'),
  'data/v2-sessions/*/*/outbox/**': left('files that it sent; the history names them'),
  'data/v2-sessions/*/*/.heartbeat': ignored('a sign of life'),
  'data/v2-sessions/*/.claude-shared/skills/**': READ,
  'data/v2-sessions/*/.claude-shared/projects/**': left(
    'the thoughts and tool calls of its agents; what was said comes from the session databases',
  ),
  'data/v2-sessions/*/.claude-shared/**': ignored('working files of Claude Code'),
  'store/messages.db*': left('the store of NanoClaw 1, which version 2 no longer uses'),
  ...NANOCLAW_FILES,
};

const RUNNING = ignored('of its own running');
const TABLES: Rules = {
  ...ofTable('agent_groups', 'id folder'),
  ...ofTable('agent_groups', 'name created_at', ignored('its folder names it here')),
  'agent_groups/agent_provider': left('models are set here by name: npx claw setup model'),
  ...ofTable('messaging_groups', 'id channel_type platform_id name is_group'),
  'messaging_groups/created_at': RUNNING,
  ...ofTable(
    'messaging_groups',
    'unknown_sender_policy denied_at',
    left('only those who are listed may call it here: /allow'),
  ),
  ...ofTable('messaging_group_agents', 'id messaging_group_id agent_group_id engage_mode'),
  ...ofTable('messaging_group_agents', 'engage_pattern sender_scope priority created_at'),
  ...ofTable(
    'messaging_group_agents',
    'trigger_rules response_scope',
    ignored('moved into other columns'),
  ),
  'messaging_group_agents/ignored_message_policy': ignored('all messages are in the history here'),
  'messaging_group_agents/session_mode': left('a chat is one conversation here'),
  'users/**': ignored('people have the names that their channels give them'),
  ...ofTable('user_roles', 'user_id role agent_group_id'),
  ...ofTable('agent_group_members', 'user_id agent_group_id'),
  ...ofTable('user_dms', 'user_id messaging_group_id channel_type'),
  ...each(
    ['user_roles/granted_*', 'agent_group_members/added_*', 'user_dms/resolved_at'],
    ignored('when and by whom it was given'),
  ),
  ...ofTable('sessions', 'id agent_group_id messaging_group_id created_at'),
  ...ofTable('sessions', 'thread_id agent_provider status container_status last_active', RUNNING),
  'container_configs/**': left(
    'models, packages and folders of its containers are set anew here: docs/models.md, docs/groups.md',
  ),
  'pending_*/**': left('questions that nobody had answered when it stopped'),
  'agent_destinations/**': ignored('made of its wirings'),
  'unregistered_senders/**': ignored('people whom it did not let in'),
  ...each(['chat_sdk_*/**', 'schema_version/**'], RUNNING),
};
const Wiring = z.object({
  messaging_group_id: text(200),
  agent_group_id: text(200),
  channel_type: text(100),
  platform_id: text(500),
  chat_name: text(1_000).nullable(),
  is_group: z.int().nullable(),
  folder: pathPart(),
  engage_mode: text(50),
  engage_pattern: text(1_000).nullable(),
  sender_scope: text(50),
});
type Wiring = z.output<typeof Wiring>;

function readStore(context: SourceContext, store: string, version: string): SourceState {
  const { root, workDir } = context;
  const opened: Database[] = [];
  const open = (path: string): Database => {
    const database = openSourceDatabase(path, workDir);
    opened.push(database);
    return database;
  };
  const close = () => {
    for (const database of opened) database.close();
  };
  try {
    const central = open(store);
    if (!columnsOf(central, 'messaging_group_agents').has('engage_mode')) {
      throw new ImportRefused(
        `${store} is older than NanoClaw 2.0.10, or its schema is not known here. Start the newest NanoClaw 2 there once, which brings it up to date, then import again.`,
      );
    }
    const env = settingsIn(root);
    const timeZone = env.values['TZ'] || context.timeZone;
    const groups = readGroups(central);
    const sessions = sessionsOf(central, root, groups);
    const { link, leftBehind: ofLink } = readWhatsAppFolder(join(root, 'store/auth'));
    const files = readFiles(root, groups);
    const tasks = sessions.flatMap(({ inbound, group }) =>
      isFile(inbound) ? tasksIn(open(inbound), group, timeZone) : [],
    );
    return {
      product: 'nanoclaw',
      version,
      assistantName: env.values['ASSISTANT_NAME'] ?? null,
      timeZone,
      chats: readChats(central),
      groups,
      countMessages: 0,
      *messages() {
        for (const session of sessions) yield* messagesOf(session, workDir);
      },
      tasks: [...new Map(tasks.map((task) => [task.id, task])).values()],
      files: files.files,
      settings: env.settings,
      link,
      code: readForkCode(root),
      leftBehind: [
        ...env.leftBehind,
        ...ofLink,
        ...files.leftBehind,
        ...secondHomes(groups),
        ...filesLeft(root, FILES),
        ...tablesLeft([central], 'data/v2.db', TABLES),
        ...tablesLeft(databasesOf(sessions, workDir), 'data/v2-sessions', SESSION_TABLES),
        {
          what: 'keys in its vault (OneCLI)',
          why: 'it hands them out to nobody: npx claw setup model',
        },
      ],
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

const ChatRow = z.object({
  channel_type: text(100),
  platform_id: text(500),
  name: text(1_000).nullable(),
  is_group: z.int().nullable(),
});

function readChats(database: Database): readonly SourceChat[] {
  return database
    .prepare('SELECT channel_type, platform_id, name, is_group FROM messaging_groups ORDER BY id')
    .all()
    .map((row) => {
      const {
        channel_type: channel,
        platform_id: id,
        name,
        is_group: isGroup,
      } = ChatRow.parse(row);
      return platformChat(channel, id, name, isGroup === 1);
    });
}

/** A platform id is a JID of WhatsApp's, else `<channel>:<id>`; Discord's has the server before the channel. */
function readGroups(database: Database): readonly WiredGroup[] {
  const owners = new Set(
    database
      .prepare(
        `SELECT messaging_group_id FROM user_dms JOIN user_roles USING (user_id) WHERE role = 'owner'`,
      )
      .pluck()
      .all(),
  );
  const members = database
    .prepare(`
      SELECT user_id FROM agent_group_members WHERE agent_group_id = :agent
      UNION SELECT user_id FROM user_roles WHERE agent_group_id IS NULL OR agent_group_id = :agent`)
    .pluck();
  const rows = database
    .prepare(`
      SELECT messaging_group_id, agent_group_id, channel_type, platform_id, chats.name AS chat_name,
        is_group, folder, engage_mode, engage_pattern, sender_scope
      FROM messaging_group_agents
      JOIN messaging_groups AS chats ON chats.id = messaging_group_id
      JOIN agent_groups ON agent_groups.id = agent_group_id
      ORDER BY messaging_group_agents.priority DESC, messaging_group_agents.created_at, messaging_group_agents.id`)
    .all()
    .map((row) => Wiring.parse(row));
  const homes = new Map<string, number>();
  const seen = new Set<string>();
  return rows.flatMap((row) => {
    const chat = platformChat(row.channel_type, row.platform_id, row.chat_name, row.is_group === 1);
    // Two agents in one chat: the first one has it here.
    if (seen.has(chat.jid)) return [];
    seen.add(chat.jid);
    const isMain = owners.has(row.messaging_group_id);
    const number = (homes.get(row.folder) ?? 0) + 1;
    homes.set(row.folder, number);
    return [
      {
        ...chat,
        ...triggerOf(row, isMain),
        agent: row.agent_group_id,
        chatId: row.messaging_group_id,
        home: row.folder,
        folder: number === 1 ? row.folder : `${row.folder}-${number}`,
        isMain,
        allow:
          row.sender_scope === 'known'
            ? members
                .all({ agent: row.agent_group_id })
                .flatMap((id) => sendersOf(String(id), chat))
            : null,
      },
    ];
  });
}

function triggerOf(
  { engage_mode: mode, engage_pattern: pattern }: Wiring,
  isMain: boolean,
): Pick<SourceGroup, 'needsTrigger' | 'triggerWord'> {
  const isAlways = mode === 'pattern' && (pattern === '.' || pattern === '.*');
  // A pattern that is one word at the beginning is a trigger; any other answers to the name here.
  const word = /^\^?\(?(@?[\p{L}\p{N}_-]+)\)?(?:\\b)?$/u.exec(pattern ?? '')?.[1] ?? null;
  return {
    needsTrigger: !isMain && !isAlways,
    triggerWord: mode === 'pattern' && !isAlways ? word : null,
  };
}

/** People are `tg:1` or `phone:+49…`; here a channel's own ids stand for them. Those of other channels are left out. */
function sendersOf(user: string, { channel }: SourceChat): readonly string[] {
  const [, kind = '', id = ''] = /^([a-z]+):(.*)$/s.exec(user) ?? [];
  const theirs = { tg: 'telegram', dc: 'discord', phone: 'whatsapp' }[kind] ?? kind;
  if (theirs !== channel) return [];
  const isNumber = channel === 'whatsapp' && !id.includes('@');
  return [isNumber ? `${id.replace(/\D/g, '')}@s.whatsapp.net` : id];
}

/** `CLAUDE.md` is made by NanoClaw 2 of its own parts; the people's memory is `CLAUDE.local.md`. */
function readFiles(
  root: string,
  groups: readonly WiredGroup[],
): { readonly files: readonly SourceFile[]; readonly leftBehind: readonly LeftBehind[] } {
  const isTheirs = (path: string) =>
    ['CLAUDE.md', 'logs', '.claude-shared.md', '.claude-fragments', 'container.json'].includes(
      path,
    );
  // Several chats of the owner share one folder here, as they did there.
  const isFirst = (group: WiredGroup) =>
    !group.isMain || groups.find(({ isMain, home }) => isMain && home === group.home) === group;
  const found = groups.filter(isFirst).map(({ home, folder, agent }) => {
    const from = join(root, 'groups', home);
    const { paths, leftBehind } = filesBelow(
      from,
      (path) => isTheirs(path) || path === 'CLAUDE.local.md',
    );
    const memory = isFile(join(from, 'CLAUDE.local.md'))
      ? [
          {
            folder,
            path: 'CLAUDE.md',
            kind: 'memory',
            key: 'CLAUDE.local.md',
            content: { kind: 'copy', from: join(from, 'CLAUDE.local.md') },
          } as const,
        ]
      : [];
    const skills = skillsIn(
      join(root, 'data/v2-sessions', agent, '.claude-shared/skills'),
      folder,
      isShippedSkill,
    );
    return {
      files: [...memory, ...copiesOf(from, paths, { folder, kind: 'file' }), ...skills.files],
      leftBehind: [...leftBehind, ...skills.leftBehind],
    };
  });
  const global = filesBelow(join(root, 'groups/global'), (path) => path === 'logs');
  const shared = global.paths.flatMap((path) =>
    copiesOf(join(root, 'groups/global'), [path], {
      folder: null,
      kind: path === 'CLAUDE.md' ? 'memory' : 'file',
    }),
  );
  const homes = new Set([...groups.map(({ home }) => home), 'global']);
  const alone = namesIn(join(root, 'groups')).filter(
    (name) => isFolder(join(root, 'groups', name)) && !homes.has(name),
  );
  return {
    files: [...found.flatMap(({ files }) => files), ...shared],
    leftBehind: [
      ...found.flatMap(({ leftBehind }) => leftBehind),
      ...alone.map((name) => ({ what: `groups/${name}`, why: 'no chat is wired to this agent' })),
    ],
  };
}

function secondHomes(groups: readonly WiredGroup[]): readonly LeftBehind[] {
  return groups
    .filter(({ home, folder, isMain }) => home !== folder && !isMain)
    .map(({ home, name, jid }) => ({
      what: `one memory for several chats of groups/${home}`,
      why: `${name ?? jid} gets a copy, in a folder of its own`,
    }));
}
