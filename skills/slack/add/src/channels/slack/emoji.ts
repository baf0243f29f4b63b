/** Slack's names of the emojis that are put on messages. It takes no emoji itself. */
const NAMES: Readonly<Record<string, string>> = {
  '👍': '+1',
  '👎': '-1',
  '👌': 'ok_hand',
  '👏': 'clap',
  '🙌': 'raised_hands',
  '🙏': 'pray',
  '💪': 'muscle',
  '👋': 'wave',
  '👀': 'eyes',
  '✅': 'white_check_mark',
  '✔': 'heavy_check_mark',
  '❌': 'x',
  '⚠': 'warning',
  '❗': 'exclamation',
  '❓': 'question',
  '❤': 'heart',
  '💔': 'broken_heart',
  '🔥': 'fire',
  '🎉': 'tada',
  '🎂': 'birthday',
  '🚀': 'rocket',
  '⭐': 'star',
  '💯': '100',
  '💡': 'bulb',
  '⏳': 'hourglass_flowing_sand',
  '🙂': 'slightly_smiling_face',
  '😀': 'grinning',
  '😄': 'smile',
  '😂': 'joy',
  '😉': 'wink',
  '😍': 'heart_eyes',
  '🤔': 'thinking_face',
  '😢': 'cry',
  '😭': 'sob',
  '😮': 'open_mouth',
  '😱': 'scream',
  '😡': 'rage',
  '🤷': 'shrug',
  '🤖': 'robot_face',
};

/** Returns Slack's name of an emoji, whatever its colour; null for one that has none here. */
export function emojiName(emoji: string): string | null {
  // A sign that asks for a colourful picture, and one for the tone of the skin.
  const plain = emoji.trim().replace(/\ufe0f|[\u{1f3fb}-\u{1f3ff}]/gu, '');
  return Object.hasOwn(NAMES, plain) ? (NAMES[plain] ?? null) : null;
}

const EMOJIS = new Map(Object.entries(NAMES).map(([emoji, name]) => [name, emoji]));

/** Returns the emoji of a name of Slack's, without the colour of its skin; one that has none here stays a name. */
export function emojiOf(name: string): string {
  const plain = name.split('::', 1)[0] ?? name;
  return EMOJIS.get(plain) ?? OTHER_NAMES[plain] ?? `:${plain}:`;
}

/** Names that Slack gives to what has another one as well. */
const OTHER_NAMES: Readonly<Record<string, string>> = { thumbsup: '👍', thumbsdown: '👎' };
