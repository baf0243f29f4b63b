import type { z } from 'zod';
import type { CarriedData } from './carried.ts';
import type { DataOf } from './data-by-verb.ts';
import type { Immutable } from './immutable.ts';

/** Verbs that compose the tree again, and go the same way. */
export type CarriedVerb =
  | 'init'
  | 'adopt'
  | 'apply'
  | 'remove'
  | 'upgrade'
  | 'replay'
  | 'update'
  | 'customize'
  | 'rebase'
  | 'pack';

/** Data that all of them have. */
export type Carried = Immutable<z.output<typeof CarriedData>>;

/** Data of such a verb beside the common. */
export type ExtraOf<V extends CarriedVerb> = Beside<DataOf<V>>;

type Beside<Data> = Data extends Carried ? Omit<Data, keyof Carried> : never;
