/** Says whose a side is: `the core's`, `telegram's`, `yours`. */
export function whose(layer: string): string {
  if (layer === 'your edits') return 'yours';
  return layer === 'undo' ? 'what was there before' : adjectiveOf(layer);
}

/** The same before a noun: `your lines`. */
export function adjectiveOf(layer: string): string {
  if (layer === 'core') return "the core's";
  if (layer === 'your edits') return 'your';
  return layer === 'undo' ? 'the former' : `${layer}'s`;
}

/** Returns the owner of a side with its verb, for a sentence: `telegram has`. */
export function holderOf(layer: string): string {
  if (layer === 'core') return 'the core has';
  if (layer === 'your edits') return 'you have';
  return layer === 'undo' ? 'the version before has' : `${layer} has`;
}

/** Returns the verbs for the two sides: who has something keeps it, and takes what comes. */
export function verbsFor([ours, theirs]: readonly [ours: string, theirs: string]) {
  const isKept = isOwn(theirs) && !isOwn(ours);
  return isKept ? { ours: 'take', theirs: 'keep' } : { ours: 'keep', theirs: 'take' };
}

/** By its name: customisations get one that begins so. */
function isOwn(layer: string): boolean {
  return layer === 'your edits' || /^custom(-|$)/.test(layer);
}
