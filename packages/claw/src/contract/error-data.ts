import { z } from 'zod';
import { Said } from './parts.ts';

// Facts of errors that a program goes on with; an error may have others.

/** Data of CONSENT_NEEDED: paths to name with `--allow`. */
export const ConsentNeeded = z.object({ paths: z.array(z.string()) });

/** Data of OPERATION_PENDING: the operation that waits. */
export const OperationPending = Said;

/** Data of SKILL_NOT_FOUND: names that are near to the one that was given. */
export const SkillNotFound = z.object({ nearest: z.array(z.string()) });
