import { z } from 'zod';
import { BroughtData, CarriedData } from '../carried.ts';
import { AdoptData } from './adopt.ts';
import { CustomizeData } from './customize.ts';
import { FileDiff } from './diff.ts';
import { NewPackData, RenewedData } from './pack.ts';
import { RebaseData } from './rebase.ts';
import { UndoData } from './undo.ts';
import { UpdateData } from './update.ts';

/** Fields of a plan beside the verb's own data. */
const Foreseen = {
  /** Paths that need `--allow`. */
  consent: z.array(z.string()),
  /** `name@version` of packages whose install scripts would not run. */
  installScripts: z.array(z.string()),
  /** The changes of the project's files as patches, with `--diff`. */
  patches: z.array(FileDiff).optional(),
};

/** The result of `claw plan`: that of the planned verb, named in `verb`. */
export const PlanData = z.union([
  BroughtData.extend({ verb: z.enum(['apply', 'upgrade']), ...Foreseen }),
  UpdateData.extend({ verb: z.literal('update'), ...Foreseen }),
  AdoptData.extend({ verb: z.literal('adopt'), ...Foreseen }),
  CustomizeData.extend({ verb: z.literal('customize'), ...Foreseen }),
  RebaseData.extend({ verb: z.literal('rebase'), ...Foreseen }),
  RenewedData.extend({ verb: z.literal('pack'), ...Foreseen }),
  CarriedData.extend({ verb: z.enum(['init', 'remove', 'replay', 'pack']), ...Foreseen }),
  NewPackData.extend({ verb: z.literal('pack') }),
  UndoData.extend({ verb: z.literal('undo') }),
]);
