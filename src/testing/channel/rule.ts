import type { Bench } from './bench.ts';
import type { FarEnd } from './far-end.ts';

/** Abilities of a far end that not every one has. */
export type Ability = {
  [K in keyof FarEnd]-?: undefined extends FarEnd[K] ? K : never;
}[keyof FarEnd];

/** A rule and the way it is tried. */
export type Rule = {
  /** The far end's abilities without which it cannot be tried. */
  readonly needs?: readonly Ability[];
  /** The channel's databases are files: what it keeps can be saved. */
  readonly onDisk?: boolean;
  /** Rejects where the channel breaks the rule. */
  readonly check: (bench: Bench) => Promise<void>;
};
