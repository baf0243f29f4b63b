import { z } from 'zod';
import { ChangeKind } from '../parts.ts';

/** A command that `undo` can take back. */
const Entry = z.object({
  id: z.string(),
  /** ISO 8601. */
  time: z.string(),
  verb: z.string(),
  /** The command with its arguments. */
  summary: z.string(),
  /** The skills whose packages it brought, replaced or took out. */
  skills: z.array(z.string()),
  /** The files of the project that it changed. */
  files: z.array(z.object({ path: z.string(), kind: ChangeKind })),
});

/** The result of `claw log`, newest first: each `undo` takes the first one back. */
export const LogData = z.array(Entry);
