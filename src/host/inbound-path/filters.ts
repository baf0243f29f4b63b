import { openContributions, type SilentContribution } from '../../lib/contribution.ts';
import { beginningOf } from '../../lib/graphemes.ts';
import { NO_DATABASES, type OwnDatabases } from '../../lib/own-database.ts';
import type { Environment } from '../../lib/settings.ts';
import type { PaidWork } from '../budget/budgets.ts';
import type {
  FilterCall,
  FilteredMessage,
  FilterResult,
  InboundFilter,
  InboundFilterContext,
  InboundFilterContribution,
} from '../contracts/inbound-filter.ts';
import type { HostLog } from '../contracts/log.ts';
import type { SetTimer } from '../scheduler/alarm.ts';

/** All inbound filters of this tree as one. */
export interface InboundFilters {
  /** Never throws or rejects. A promise only where a filter returned one. */
  apply(message: FilteredMessage, means: FilterMeans): FilterOutcome | Promise<FilterOutcome>;
}

/** Outcome of all filters for one message. */
export type FilterOutcome =
  /** The text as they left it, and notes for the agent. */
  | {
      readonly kind: 'through';
      readonly text: string;
      readonly notes: readonly string[];
      /** Said in place of an answer: the first filter's that has one. */
      readonly reply?: string;
    }
  | { readonly kind: 'dropped'; readonly filter: string; readonly reason: string }
  /** A filter that must not be passed by could not look at it. */
  | { readonly kind: 'failed'; readonly filter: string; readonly problem: string };

export type FilterMeans = Omit<FilterCall, 'pay'> & {
  readonly setTimer: SetTimer;
  readonly pay: (work: PaidWork) => boolean;
};

type OpenFilter = Pick<InboundFilterContribution, 'name' | 'onFailure'> & {
  readonly timeoutMs: number;
  readonly filter: InboundFilter;
};

const TIMEOUT_MS = 120_000;

/**
 * Opens the filters of this tree, in their order. A filter that holds messages it cannot check holds every message
 * while its settings are wrong.
 *
 * @param databases without them, a filter that opens one stays silent
 */
export function openInboundFilters(
  definitions: readonly InboundFilterContribution[],
  environment: Environment,
  { assistantName, dataDir, timeZone, log, now, newId }: Omit<InboundFilterContext, 'openDatabase'>,
  databases: OwnDatabases = NO_DATABASES,
): { readonly filters: InboundFilters; readonly silent: readonly SilentFilter[] } {
  const inOrder = definitions.toSorted(
    (one, other) => one.order - other.order || (one.name < other.name ? -1 : 1),
  );
  const { made, silent } = openContributions(inOrder, environment, (name) => ({
    assistantName,
    dataDir,
    timeZone,
    log,
    now,
    newId,
    openDatabase: databases.of('filter', name),
  }));
  const open = inOrder.flatMap(({ name, onFailure, timeoutMs = TIMEOUT_MS }): OpenFilter[] => {
    const own = made.find((one) => one.name === name)?.value;
    if (own !== undefined) return [{ name, onFailure, timeoutMs, filter: own }];
    const isClosed = silent.some((one) => one.name === name && isBroken(one));
    return isClosed && onFailure === 'hold'
      ? [{ name, onFailure, timeoutMs, filter: holdAll }]
      : [];
  });
  const effect = (one: SilentContribution) =>
    open.some(({ name }) => name === one.name) ? { effect: 'holds every message' } : {};
  return { filters: asOne(open, log), silent: silent.map((one) => ({ ...effect(one), ...one })) };
}

/** A filter that is switched off, and the effect on messages if there is one. */
export type SilentFilter = SilentContribution & { readonly effect?: string };

function isBroken({ wrong, unusable }: SilentContribution): boolean {
  return wrong.length > 0 || unusable !== undefined;
}

const holdAll: InboundFilter = () => {
  throw new Error('its settings cannot be used');
};

function asOne(filters: readonly OpenFilter[], log: HostLog): InboundFilters {
  function failed(
    { name, onFailure }: OpenFilter,
    error: unknown,
  ): FilterResult | (FilterOutcome & { readonly kind: 'failed' }) {
    const problem = error instanceof Error ? error.message : String(error);
    log.error('an inbound filter broke', { filter: name, error: problem, effect: onFailure });
    return onFailure === 'pass' ? { kind: 'pass' } : { kind: 'failed', filter: name, problem };
  }

  function resultOf(one: OpenFilter, message: FilteredMessage, means: FilterMeans) {
    try {
      const result = limited(one, message, means);
      return result instanceof Promise
        ? result.catch((error: unknown) => failed(one, error))
        : result;
    } catch (error) {
      return failed(one, error);
    }
  }

  return {
    apply(message, means) {
      function from(at: number, so: FilterOutcome): FilterOutcome | Promise<FilterOutcome> {
        const one = filters[at];
        if (one === undefined || so.kind !== 'through') return so;
        const result = resultOf(one, ownCopy(message, so.text), means);
        const goOn = (it: Awaited<typeof result>) => from(at + 1, joined(so, one.name, it));
        return result instanceof Promise ? result.then(goOn) : goOn(result);
      }
      return from(0, { kind: 'through', text: message.text, notes: [] });
    },
  };
}

/** A filter can change only its own copy: not what is stored, and not what the next one sees. */
function ownCopy(message: FilteredMessage, text: string): FilteredMessage {
  const { group, sender, attachments } = message;
  return {
    ...message,
    text,
    group: { ...group },
    sender: { ...sender },
    attachments: attachments.map((attachment) => ({ ...attachment })),
  };
}

/** Calls a filter, and ends its promise with its time or with the assistant. */
function limited(
  { name, filter, timeoutMs }: OpenFilter,
  message: FilteredMessage,
  { fetchAttachment, pay, signal, setTimer }: FilterMeans,
): FilterResult | Promise<FilterResult> {
  const ending = new AbortController();
  const result = filter(message, {
    fetchAttachment,
    pay: (microUsd) => pay({ name, microUsd }),
    // Most filters answer at once and need none, and it costs more than they do.
    get signal() {
      return AbortSignal.any([signal, ending.signal]);
    },
  });
  if (!(result instanceof Promise)) return checked(result);
  const { promise: late, reject } = Promise.withResolvers<never>();
  const cancel = setTimer(timeoutMs, () => {
    ending.abort();
    reject(new Error(`it took longer than ${Math.round(timeoutMs / 1_000)} s`));
  });
  return Promise.race([result.then(checked), late]).finally(cancel);
}

function checked(result: FilterResult): FilterResult {
  if (isResult(result)) return result;
  throw new TypeError('it returned nothing that a filter may return');
}

/** A filter may be of a skill's, and what it returns goes into the store. */
function isResult(result: FilterResult | null): boolean {
  switch (result?.kind) {
    case 'pass':
      return true;
    case 'change':
      return [result.text, result.note, result.reply].every((it) =>
        ['string', 'undefined'].includes(typeof it),
      );
    case 'drop':
      return typeof result.reason === 'string';
    default:
      return false;
  }
}

function joined(
  so: FilterOutcome & { readonly kind: 'through' },
  name: string,
  result: FilterResult | (FilterOutcome & { readonly kind: 'failed' }),
): FilterOutcome {
  switch (result.kind) {
    case 'pass':
      return so;
    case 'change': {
      const { text = so.text, note } = result;
      const notes = note === undefined ? so.notes : [...so.notes, noteOf(name, note)];
      const reply = so.reply ?? result.reply;
      return { kind: 'through', text, notes, ...(reply === undefined ? {} : { reply }) };
    }
    case 'drop':
      return { kind: 'dropped', filter: name, reason: oneLine(result.reason) };
    case 'failed':
      return result;
  }
}

/** A note that could close the bracket could pass for one of another filter. */
function noteOf(name: string, note: string): string {
  return `[${name}: ${oneLine(note).replaceAll(/[[\]]/g, '')}]`;
}

function oneLine(text: string): string {
  return beginningOf(text.replace(/[\s\p{Cc}]+/gu, ' ').trim(), 300);
}
