import { z } from 'zod';
import { BroughtData, CarriedData } from '../carried.ts';
import { CustomizeData } from './customize.ts';
import { RenewedData } from './pack.ts';
import { RebaseData } from './rebase.ts';
import { UndoData } from './undo.ts';
import { UpdateData } from './update.ts';

/** The result of `claw continue`: that of the verb that waited, named in `verb`. */
export const ContinueData = z.union([
  BroughtData.extend({ verb: z.enum(['apply', 'upgrade']) }),
  UpdateData.extend({ verb: z.literal('update') }),
  CustomizeData.extend({ verb: z.literal('customize') }),
  RebaseData.extend({ verb: z.literal('rebase') }),
  RenewedData.extend({ verb: z.literal('pack') }),
  CarriedData.extend({ verb: z.enum(['init', 'remove', 'replay', 'pack']) }),
  UndoData.extend({ verb: z.literal('undo') }),
]);
