const GOOD = [...'👍❤💚💙💜🧡💛🤍🎉✅🔥💯👏🙏😍🥰🤩😊😁😂🏆⭐🌟👌💪🙌'];
const BAD = [...'👎❌💩🤮🤬😡😠🙄😞😢😭🤦'];

/** Returns what an emoji says of an answer: 1 good, -1 bad, null nothing of that. */
export function ratingOf(emoji: string): 1 | -1 | null {
  // Skin tones and the like are signs of their own behind the first.
  const [sign = ''] = emoji;
  if (GOOD.includes(sign)) return 1;
  return BAD.includes(sign) ? -1 : null;
}
