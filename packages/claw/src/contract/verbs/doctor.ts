import { z } from 'zod';

/** One thing that was looked at: whether it is well, in a sentence, and the next step. */
const Finding = z.object({
  area: z.string(),
  ok: z.boolean(),
  message: z.string(),
  /** A good finding may have one as well. */
  advice: z.string().nullable(),
});

/** The result of `claw doctor`. */
export const DoctorData = z.object({ findings: z.array(Finding) });
