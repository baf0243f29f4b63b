/** Two topics and the chat that they are. */
export type TopicPair = {
  readonly chat: string;
  /** The assistant reads here. */
  readonly topicIn: string;
  /** It answers here. */
  readonly topicOut: string;
};

type OpenPair = Omit<TopicPair, 'chat'>;

/** All topics of the channel. */
export type Topics = { readonly open: OpenPair; readonly mapped: readonly TopicPair[] };

const CHAT = /^[^\p{Cc}]{1,128}$/u;
const ENTRY = /^([^=>+#]+)=([^=>+#]+)>([^=>+#]+)$/;

/** Tells whether a chat may be called so. */
export function isChatId(text: string): boolean {
  return CHAT.test(text) && text.trim() !== '';
}

/**
 * Reads the owner's map: `kitchen=home/kitchen/ask>home/kitchen/say`, several with commas between them.
 *
 * @param open the pair that is not in the map, and must share no topic with it
 */
export function parseTopicMap(
  typed: string,
  open: OpenPair,
): { readonly pairs: readonly TopicPair[]; readonly problem: string | null } {
  const pairs: TopicPair[] = [];
  for (const entry of typed.split(',').map((text) => text.trim())) {
    if (entry === '') continue;
    const [, chat = '', topicIn = '', topicOut = ''] = ENTRY.exec(entry) ?? [];
    if (!isChatId(chat.trim())) {
      const problem = `MQTT_TOPICS in .env holds "${entry}". Write it as chat=topic/in>topic/out, without + and #.`;
      return { pairs: [], problem };
    }
    pairs.push({ chat: chat.trim(), topicIn: topicIn.trim(), topicOut: topicOut.trim() });
  }
  return { pairs, problem: clashIn(pairs, open) };
}

/** The chat of a message: that of its topic, else the one that the message names, else the topic itself. */
export function chatOf(topics: Topics, topic: string, named: string | null): string | null {
  const pair = topics.mapped.find(({ topicIn }) => topicIn === topic);
  if (pair !== undefined) return pair.chat;
  const chat = named ?? topic;
  // Whoever may write to the open topic could else speak in the chat of another one.
  const isTaken = topics.mapped.some((other) => other.chat === chat);
  return isTaken || !isChatId(chat) ? null : chat;
}

/** The topic on which a chat gets its answers. */
export function topicOutOf({ open, mapped }: Topics, chat: string): string {
  return mapped.find((pair) => pair.chat === chat)?.topicOut ?? open.topicOut;
}

/** All topics that the assistant reads. */
export function topicsIn({ open, mapped }: Topics): readonly string[] {
  return [open.topicIn, ...mapped.map(({ topicIn }) => topicIn)];
}

function clashIn(pairs: readonly TopicPair[], open: OpenPair): string | null {
  const ins = [open.topicIn, ...pairs.map(({ topicIn }) => topicIn)];
  const outs = new Set([open.topicOut, ...pairs.map(({ topicOut }) => topicOut)]);
  const echo = ins.find((topic) => outs.has(topic));
  if (echo !== undefined) {
    return `The topic ${echo} is read and written: the assistant would answer itself. Use two topics.`;
  }
  const twice = ins.find((topic, at) => ins.indexOf(topic) !== at);
  if (twice !== undefined) return `The topic ${twice} is in MQTT_TOPICS or MQTT_TOPIC_IN twice.`;
  const chats = pairs.map(({ chat }) => chat);
  const chat = chats.find((name, at) => chats.indexOf(name) !== at);
  return chat === undefined ? null : `The chat ${chat} is in MQTT_TOPICS twice.`;
}
