import type { Limits, Spending } from '../../store/store.ts';

/** Formats money for people: `$1.23`, and `$0.0042` if cents would show nothing. */
export function usd(microUsd: number): string {
  const cents = Math.round(microUsd / 10_000);
  if (microUsd === 0 || cents > 0) return `$${(cents / 100).toFixed(2)}`;
  return microUsd < 100 ? 'less than $0.0001' : `$${(microUsd / 1_000_000).toFixed(4)}`;
}

/** `1,234 tokens` */
export function tokens(count: number): string {
  return `${count.toLocaleString('en')} tokens`;
}

/**
 * Returns spending against its limits: `$4.20 of $5.00 (84%)`, with tokens if they are limited or nothing else is
 * known.
 */
export function spentOf(spent: Spending, limits: Limits): string {
  const isKnown = spent.unpricedCalls === 0 || spent.microUsd > 0;
  const parts = [
    ...(limits.microUsd === null && !isKnown ? [] : [moneyOf(spent, limits.microUsd, isKnown)]),
    ...(limits.tokens !== null || !isKnown
      ? [against(tokens(spent.tokens), spent.tokens, limits.tokens, tokens)]
      : []),
  ];
  return parts.join(', ');
}

function moneyOf(spent: Spending, limit: number | null, isKnown: boolean): string {
  if (!isKnown) return 'money unknown';
  const sum = against(usd(spent.microUsd), spent.microUsd, limit, usd);
  return spent.unpricedCalls > 0 ? `${sum} and what is unknown` : sum;
}

function against(
  said: string,
  spent: number,
  limit: number | null,
  inWords: (amount: number) => string,
): string {
  if (limit === null) return said;
  const share = limit === 0 ? '' : ` (${Math.floor((spent / limit) * 100)}%)`;
  return `${said} of ${inWords(limit)}${share}`;
}

/** Returns limits as part of a sentence: `may spend $5.00 and 100,000 tokens a day`, `has no limit`. */
export function limitsInWords({ microUsd, tokens: most }: Limits): string {
  const parts = [
    ...(microUsd === null ? [] : [usd(microUsd)]),
    ...(most === null ? [] : [tokens(most)]),
  ];
  return parts.length === 0 ? 'has no limit' : `may spend ${parts.join(' and ')} a day`;
}

/** Returns the used part of the limit that is nearest to its end; 1 is all of it. */
export function shareUsed(spent: Pick<Spending, 'microUsd' | 'tokens'>, limits: Limits): number {
  const share = (used: number, limit: number | null): number => {
    if (limit === null) return 0;
    return limit === 0 ? 1 : used / limit;
  };
  return Math.max(share(spent.microUsd, limits.microUsd), share(spent.tokens, limits.tokens));
}
