/** A chat of the day, as the plan knows it. */
export type PlannedChat = {
  readonly index: number;
  readonly name: string;
  readonly folder: string;
  readonly kind: 'triggered' | 'always' | 'budgeted' | 'unregistered';
};

/** Something that somebody says. Its token is a word of its own, to be found again in an answer. */
export type PlannedMessage = {
  readonly token: string;
  readonly chat: PlannedChat;
  /** The index of the speaker among the chat's two members. */
  readonly speaker: 0 | 1;
  readonly text: string;
  /** True if it calls the assistant. */
  readonly isAsked: boolean;
  readonly as: 'lid' | 'pn';
};

/** A direct message of somebody whom nobody has let in. */
export type PlannedStranger = { readonly stranger: 0 | 1; readonly text: string };

export type Plan = {
  readonly chats: readonly PlannedChat[];
  /** In the order in which they are said; a chat's last one calls the assistant. */
  readonly messages: readonly PlannedMessage[];
  readonly strangers: readonly PlannedStranger[];
};

/** So many messages in a row call nobody at most: what is further back is not shown to the agent. */
const LONGEST_CONTEXT = 40;
const UNREGISTERED = 3;

/** Makes the day out of a seed: `groups` registered chats, three that are not, and two strangers. */
export function planDay(seed: number, size: { groups: number; messages: number }): Plan {
  const random = randomFrom(seed);
  const chats = Array.from({ length: size.groups + UNREGISTERED }, (_, index) =>
    chatOf(index, size.groups),
  );
  const since = new Map<PlannedChat, number>();
  const messages = Array.from({ length: size.messages }, (_, index) => {
    // Each chat has the last word once, so that everything said is shown to an agent in the end.
    const left = size.messages - index;
    const chat = chats[left <= chats.length ? left - 1 : Math.floor(random() * chats.length)];
    if (chat === undefined) throw new Error('no chat');
    const silence = since.get(chat) ?? 0;
    const isCalled = left <= chats.length || silence >= LONGEST_CONTEXT || random() < 0.3;
    const isAsked = chat.kind === 'always' || isCalled;
    since.set(chat, isAsked ? 0 : silence + 1);
    return messageOf({ index, chat, isCalled, isAsked, random });
  });
  const strangers = Array.from({ length: 20 }, (_, index) => ({
    stranger: (index % 2) as 0 | 1,
    text: `@Andy x${String(index).padStart(4, '0')} who are you?`,
  }));
  return { chats, messages, strangers };
}

function chatOf(index: number, groups: number): PlannedChat {
  const number = String(index + 1).padStart(2, '0');
  const folder = `group-${number}`;
  const kinds = ['always', 'always', 'budgeted'] as const;
  const kind = index < groups ? (kinds[index] ?? 'triggered') : 'unregistered';
  return { index, name: `Group ${number}`, folder, kind };
}

type MessageParts = {
  readonly index: number;
  readonly chat: PlannedChat;
  readonly isCalled: boolean;
  readonly isAsked: boolean;
  readonly random: () => number;
};

function messageOf({ index, chat, isCalled, isAsked, random }: MessageParts): PlannedMessage {
  const token = `m${String(index).padStart(4, '0')}`;
  const name = isCalled ? '@Andy ' : '';
  // Some answers take a tool, and time for others to say something meanwhile.
  const wish = isAsked && random() < 0.2 ? ' look into it' : '';
  const speaker = random() < 0.5 ? 0 : 1;
  const as = 'lid' as const;
  return { token, chat, speaker, text: `${name}${token}${wish}`, isAsked, as };
}

/** Mulberry32, a small generator that is the same everywhere. Source: T. Ettinger, public domain. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
