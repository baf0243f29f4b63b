import { z } from 'zod';
import { CarriedData } from '../carried.ts';
import { Edit } from '../parts.ts';

/** The result of `claw customize`; `customisation` is null where there was nothing to record. */
export const CustomizeData = CarriedData.extend({
  customisation: z.object({ name: z.string(), files: z.array(Edit) }).nullable(),
});
