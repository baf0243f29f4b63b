import type { DetectedSource, SourceChat } from '../items.ts';

/** How NanoClaw runs: as a service of the user, and with a container for each group. */
export const NANOCLAW_RUNS: Pick<DetectedSource, 'units' | 'containerPrefixes' | 'commands'> = {
  units: [/^(com\.)?nanoclaw([-.][\w.-]+)?$/],
  containerPrefixes: ['nanoclaw-'],
  commands: [],
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
