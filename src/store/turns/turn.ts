import { z } from 'zod';

export type TurnKind = 'agent' | 'command';
export type TurnState = 'queued' | 'claimed' | 'answered' | 'failed' | 'gave_up' | 'resuming';

/**
 * One piece of work that a chat waits for: an agent's answer, or an owner's command.
 * It covers the messages with cursors from `fromSeq` to `uptoSeq`, both included.
 */
export type Turn = {
  readonly id: string;
  readonly jid: string;
  readonly kind: TurnKind;
  readonly state: TurnState;
  readonly fromSeq: number;
  readonly uptoSeq: number;
  readonly attempts: number;
  readonly error: string | null;
  /** The input of a command, or its notes for the process that resumes it. */
  readonly payload: unknown;
};

export const TURN_COLUMNS = 'id, jid, kind, state, from_seq, upto_seq, attempts, error, payload';

const Row = z.object({
  id: z.string(),
  jid: z.string(),
  kind: z.enum(['agent', 'command']),
  state: z.enum(['queued', 'claimed', 'answered', 'failed', 'gave_up', 'resuming']),
  from_seq: z.int(),
  upto_seq: z.int(),
  attempts: z.int(),
  error: z.string().nullable(),
  payload: z.string().nullable(),
});

/** Reads a row with `TURN_COLUMNS`. */
export function parseTurn(row: unknown): Turn {
  const { from_seq: fromSeq, upto_seq: uptoSeq, payload, ...rest } = Row.parse(row);
  return { ...rest, fromSeq, uptoSeq, payload: payload === null ? null : JSON.parse(payload) };
}

const Beside = z.object({ isBeside: z.literal(true) });

/** Tells whether a turn runs beside the others of its group. */
export function runsBeside({ kind, payload }: Pick<Turn, 'kind' | 'payload'>): boolean {
  return kind === 'agent' && Beside.safeParse(payload).success;
}
