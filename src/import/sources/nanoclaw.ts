import { each, ignored, left, READ, type Rules } from '../accounting.ts';
import type { DetectedSource, SourceChat } from '../imported-items.ts';

/** How NanoClaw runs: as a service of the user, and with a container for each group. */
export const NANOCLAW_RUNS: Pick<DetectedSource, 'units' | 'containerPrefixes' | 'commands'> = {
  units: [/^(com\.)?nanoclaw([-.][\w.-]+)?$/],
  containerPrefixes: ['nanoclaw-'],
  commands: [],
};

/** What becomes of the files that every NanoClaw has; its code is compared apart, where the folder is a git checkout. */
export const NANOCLAW_FILES: Rules = {
  ...each(['.env', 'package.json', 'store/auth/**', 'groups/*/*/**'], READ),
  'logs/**': left('they tell about the old programs only'),
  'data/ipc/**': ignored('notes between its processes, which are over'),
  'data/env/**': ignored('a copy of its .env'),
  ...each(
    ['src', 'container', 'dist', 'scripts', 'setup', 'docs', 'assets', 'config-examples', 'launchd']
      .concat('repo-tokens', 'skills-engine', 'bin', 'patches', 'templates', '.claude', '.github')
      .concat('.husky', '.nanoclaw')
      .map((name) => `${name}/**`),
    ignored('its code'),
  ),
  ...each(
    ['*.md', '*.config.ts', '*.config.js', 'tsconfig*.json', 'package-lock.json', 'setup.sh']
      .concat('pnpm-lock.yaml', 'pnpm-workspace.yaml', 'nanoclaw.sh', 'migrate-v2.sh', 'LICENSE')
      .concat('.gitignore', '.nvmrc', '.npmrc', '.prettierrc', '.env.example', '.mcp.json'),
    ignored('its code'),
  ),
};

/** Skills that NanoClaw itself puts into each container; they steer its own tools. */
const SHIPPED = new Set([
  'agent-browser',
  'capabilities',
  'status',
  'slack-formatting',
  'frontend-engineer',
  'onecli-gateway',
  'self-customize',
  'vercel-cli',
  'welcome',
]);

/** Tells whether a skill comes with NanoClaw, and is nothing of the owner's. */
export function isShippedSkill(name: string): boolean {
  return SHIPPED.has(name);
}

const PREFIXES: Readonly<Record<string, string>> = {
  tg: 'telegram',
  telegram: 'telegram',
  dc: 'discord',
  discord: 'discord',
  slack: 'slack',
  signal: 'signal',
  matrix: 'matrix',
};

/** Names a chat of NanoClaw's by the address that it has here: `tg:1` is `telegram:1`, WhatsApp's own stay. */
export function chatOf(chat: {
  readonly jid: string;
  readonly channel: string | null;
  readonly name: string | null;
  readonly isGroup: boolean | null;
}): SourceChat {
  const { jid, name, isGroup } = chat;
  const [, prefix = '', id = ''] = /^([a-z]+):(.*)$/s.exec(jid) ?? [];
  const channel = PREFIXES[prefix];
  if (channel !== undefined) {
    // A group of Telegram's has a negative id.
    const isDirect = channel === 'telegram' ? !id.startsWith('-') : isGroup === false;
    return { jid: `${channel}:${id}`, channel, name, isDirect };
  }
  const isWhatsApp = /@(g\.us|s\.whatsapp\.net|lid)$/.test(jid);
  const isDirect = isWhatsApp ? !jid.endsWith('@g.us') : isGroup === false;
  return {
    jid,
    channel: isWhatsApp ? 'whatsapp' : (chat.channel ?? (prefix || 'unknown')),
    name,
    isDirect,
  };
}

/**
 * Names a chat of NanoClaw 2, which keeps channel and platform id apart.
 *
 * @param id a JID of WhatsApp's, else `<channel>:<id>`; Discord's has the server before the channel
 */
export function platformChat(
  channel: string,
  id: string,
  name: string | null,
  isGroup: boolean,
): SourceChat {
  const [, , last] = /^discord:([^:]+):([^:]+)$/.exec(id) ?? [];
  const isPlain = channel === 'whatsapp' || id.startsWith(`${channel}:`);
  const jid = last === undefined ? (isPlain ? id : `${channel}:${id}`) : `discord:${last}`;
  return { ...chatOf({ jid, channel, name, isGroup }), isDirect: !isGroup };
}
