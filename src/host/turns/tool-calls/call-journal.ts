import { createHash } from 'node:crypto';
import { cutResult, cutText } from '../../../lib/cut-text.ts';
import type { EarlierCall, HostToolResult, OwnToolRun } from '../../../sandbox/sandbox.ts';
import type { Turn, TurnCall } from '../../../store/store.ts';
import type { LogPort, StorePort } from '../../contracts/ports.ts';

/** More calls of one turn than this are made and not noted. */
const MAX_CALLS = 1_000;
const MAX_INPUT_BYTES = 65_536;
/** The share of a frame for the results that a later run is shown; of older ones it is told that they were left out. */
const MAX_SHOWN_BYTES = 300_000;

/** A call on its way to its tool. */
export type JournaledCall = {
  /** The answer where an earlier run has made this call, and it must not be made twice; else null. */
  readonly repeated: HostToolResult | null;
  /** Names the call at a far end, the same in each run; null for a call that may be repeated. */
  readonly idempotencyKey: string | null;
  /** Notes that the call is made. The function that it returns notes the result. */
  begin(): (result: HostToolResult) => void;
};

/**
 * The tool calls of a turn, over all its runs. A run after an interrupted one sees what was done. A call that changes
 * something is made once: a later run gets the first one's result for the same call.
 */
export interface CallJournal {
  /**
   * Returns the calls of earlier runs.
   *
   * @param seen returns a result of a tool in the container as the guards let the model see it
   */
  earlier(seen: SeenResult): Promise<readonly EarlierCall[]>;
  hostCall(call: Pick<Call, 'name' | 'input' | 'isRepeatable'>): JournaledCall;
  /** Notes what the agent reports of its own tools. */
  ownTool(run: OwnToolRun): void;
}

export type SeenResult = (
  call: { readonly name: string; readonly input: unknown },
  result: HostToolResult,
) => Promise<HostToolResult>;

type Call = {
  readonly place: TurnCall['place'];
  readonly name: string;
  readonly input: unknown;
  readonly isRepeatable: boolean;
};

/** Opens the journal for one run of a turn. A call that cannot be noted is logged and made: the work matters more. */
export function openCallJournal(
  { store, log }: StorePort & LogPort,
  turn: Pick<Turn, 'id'>,
): CallJournal {
  const before = store.turnCalls.before(turn.id);
  /** The last known outcome of each call, by its key. */
  const lastOf = new Map(before.map((call) => [call.key, call]));
  /** How often this run has made the same call. */
  const counts = new Map<string, number>();
  const underWay = new Map<string, (result: HostToolResult) => void>();
  const own = before.filter(({ turnId }) => turnId === turn.id);
  let next = 1 + Math.max(0, ...own.map(({ number }) => number));

  function note(call: TurnCall): void {
    if (call.number > MAX_CALLS) return;
    try {
      store.turnCalls.note(call);
    } catch (error) {
      log.warn('a tool call was not noted', { turn: turn.id, error: String(error) });
    }
  }

  function open(call: Call): JournaledCall {
    const ident = identityOf(call);
    const count = counts.get(ident) ?? 0;
    counts.set(ident, count + 1);
    const key = `${ident}:${count}`;
    const first = call.isRepeatable ? undefined : lastOf.get(key);
    return {
      repeated: first?.outcome === 'done' ? answeredBefore(first) : null,
      idempotencyKey: call.isRepeatable ? null : digestOf(`${first?.turnId ?? turn.id}:${key}`),
      begin() {
        const { place, name, isRepeatable } = call;
        const about = { turnId: turn.id, number: next, key };
        const input = inputText(call.input);
        // A call that failed or whose outcome is unknown goes on under its own key.
        const row = first ?? { ...about, place, name, isRepeatable, input };
        if (first === undefined) next += 1;
        note({ ...row, outcome: 'running', result: null });
        return ({ ok, value = null, fault }) => {
          const result = cutResult(typeof value === 'string' ? value : JSON.stringify(value));
          const isOpen = fault === 'unknown' || fault === 'timeout';
          // The same call once more is another try of this one, so it has the same key.
          if (isOpen && counts.get(ident) === count + 1) counts.set(ident, count);
          note({ ...row, outcome: ok ? 'done' : isOpen ? 'running' : 'failed', result });
        };
      },
    };
  }

  return {
    async earlier(seen) {
      const shown: EarlierCall[] = [];
      let left = MAX_SHOWN_BYTES;
      for (const call of before.toReversed()) {
        const told = await toldOf(call, seen);
        left -= Buffer.byteLength(call.input) + Buffer.byteLength(told.result);
        shown.push(left >= 0 ? told : { ...told, input: {}, result: shortened(told.result) });
      }
      return shown.reverse();
    },
    hostCall: (call) => open({ ...call, place: 'host' }),
    ownTool(run) {
      if (run.kind === 'began') {
        const { name, input = {}, isRepeatable = false } = run;
        if (underWay.size >= MAX_CALLS) return;
        underWay.set(run.id, open({ place: 'container', name, input, isRepeatable }).begin());
        return;
      }
      underWay.get(run.id)?.({ ok: run.error === null, value: run.result ?? run.error ?? '' });
      underWay.delete(run.id);
    },
  };
}

async function toldOf(call: TurnCall, seen: SeenResult): Promise<EarlierCall> {
  const { name, outcome, place, isRepeatable } = call;
  const input = inputOf(call);
  if (outcome === 'running' && call.result === null) {
    return { name, input, ok: false, result: isRepeatable ? INTERRUPTED : UNKNOWN };
  }
  const value = outcome === 'running' ? `${call.result}\n${MAYBE_DONE}` : call.result;
  const noted = { ok: outcome === 'done', value };
  const told = place === 'host' ? noted : await seen({ name, input }, noted);
  const result = typeof told.value === 'string' ? told.value : JSON.stringify(told.value);
  return { name, input, ok: told.ok, result };
}

const MAYBE_DONE = 'It may have been done. Check that before you call it again.';
const UNKNOWN = `unknown: the assistant ended while this ran. ${MAYBE_DONE}`;
const INTERRUPTED =
  'Interrupted: the assistant ended while this ran. Call it again if you still need it.';

function answeredBefore({ result }: TurnCall): HostToolResult {
  const value = `This call was made before the turn was interrupted, so it was not made again. Its result was: ${result ?? ''}\nIf it really has to be done once more, call it again.`;
  return { ok: true, value };
}

/** Returns what tells a call from calls of other tools or with other input. */
function identityOf({ place, name, input }: Call): string {
  return digestOf(JSON.stringify([place, name, input], inOrder) ?? '');
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** Sorts the keys of objects: models write them in any order. */
function inOrder(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

function inputText(input: unknown): string {
  const text = JSON.stringify(input) ?? '{}';
  const sizeBytes = Buffer.byteLength(text);
  return sizeBytes <= MAX_INPUT_BYTES ? text : JSON.stringify({ left_out: `${sizeBytes} bytes` });
}

/** Returns the input as an object, which is all that some models take. */
function inputOf({ input }: TurnCall): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(input);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? { ...value } : { value };
}

function shortened(result: string): string {
  const { text, isTruncated } = cutText(result, 300);
  return isTruncated ? `${text} … (the rest is left out)` : text;
}
