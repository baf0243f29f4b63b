import { z } from 'zod';

/** The result of `claw abort`, which has no data. */
export const AbortData = z.null();
