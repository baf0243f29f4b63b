import { z } from 'zod';
import { CarriedData } from '../carried.ts';
import { Left, Unwritten } from '../parts.ts';

/** A package that was begun. */
export const NewPackData = z.object({
  skill: z.string(),
  folder: z.string(),
  adds: z.array(z.string()),
  modifies: z.array(z.string()),
  left: z.array(Left),
  toWrite: z.array(Unwritten),
});

/** A package that was renewed. */
export const RenewalData = z.object({
  skill: z.string(),
  version: z.string(),
  coreVersion: z.string().nullable(),
  /** Files whose edits are in the package now. */
  folded: z.array(z.string()),
  left: z.array(Left),
  toWrite: z.array(Unwritten),
});

/** A renewed package of an applied skill: the tree is composed again as well. */
export const RenewedData = CarriedData.extend(RenewalData.shape);

/** The same where edits conflict with the package: nothing was renewed. */
const BlockedData = CarriedData.strict();

/** The result of `claw pack`. */
export const PackData = z.union([RenewedData, RenewalData, NewPackData, BlockedData]);
