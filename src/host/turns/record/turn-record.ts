import { beginningOf } from '../../../lib/graphemes.ts';
import type { ModelFailure } from '../../../model/failure.ts';
import type { PaidCall } from '../../../model/metering/paying-turn.ts';
import { costOf } from '../../../model/metering/price.ts';
import type { Model } from '../../../model/model.ts';
import type { Admission, TokenCounts } from '../../../model/tokens.ts';
import type {
  HostToolCall,
  HostToolResult,
  OwnToolRun,
  OwnToolVerdict,
} from '../../../sandbox/sandbox.ts';
import type { NewTurnRun, TurnStep } from '../../../store/store.ts';

/** Collects the steps of one run of a turn. Nothing in it can fail the turn. */
export interface TurnRecord {
  /** Asks for a call of the model to be let through, and notes it once it is charged. */
  admitted(call: PaidCall, admit: () => Promise<Admission>): Promise<Admission>;
  passedOver(model: Model, failure: ModelFailure): void;
  /** Answers a call of a host tool, and notes it. */
  called(call: HostToolCall, work: () => Promise<HostToolResult>): Promise<HostToolResult>;
  /** Notes a call of a tool of the agent's own that a guard refused. */
  checked(call: HostToolCall, work: () => Promise<OwnToolVerdict>): Promise<OwnToolVerdict>;
  ownTool(run: OwnToolRun): void;
  /** Returns the run as it is to be stored; steps that are under way end with it. */
  ended(end: { readonly state: string; readonly error: string | null }): NewTurnRun;
}

/** More steps than this of one run are counted and not kept. */
const MAX_STEPS = 1_000;
const MAX_ERROR_CHARS = 300;

const NO_TOKENS = {
  inputTokens: 0,
  cacheWriteTokens: 0,
  cacheReadTokens: 0,
  outputTokens: 0,
  microUsd: null,
};

type Draft = { -readonly [Key in keyof TurnStep]: TurnStep[Key] };

/** Is told of a step each time that it changes, with its place; one that is under way is `not ended`. */
export type OnStep = (step: TurnStep, number: number, runStartedAt: number) => void;

const NOT_ENDED = 'not ended';

/** Begins the record of a run. */
export function beginRecord(
  turnId: string,
  now: () => number,
  onStep: OnStep = () => {},
): TurnRecord {
  const startedAt = now();
  const steps: Draft[] = [];
  const open = new Map<string, Draft>();
  /** Steps that have begun and not ended, of any kind. */
  const underWay = new Set<Draft>();
  let leftOut = 0;

  const sinceStart = (): number => Math.max(0, now() - startedAt);

  function begin(kind: TurnStep['kind'], name: string): Draft {
    const step: Draft = {
      ...NO_TOKENS,
      kind,
      name,
      startedMs: sinceStart(),
      durationMs: 0,
      error: null,
    };
    if (steps.length < MAX_STEPS) {
      steps.push(step);
      underWay.add(step);
      changed({ ...step, error: NOT_ENDED }, steps.length - 1);
    } else leftOut += 1;
    return step;
  }

  function end(step: Draft, error: string | null, tokens: Partial<TurnStep> = {}): void {
    Object.assign(step, tokens);
    step.durationMs = Math.max(0, sinceStart() - step.startedMs);
    step.error = error === null ? null : beginningOf(error, MAX_ERROR_CHARS);
    underWay.delete(step);
    changed(step);
  }

  function changed(step: TurnStep, number = steps.indexOf(step)): void {
    if (number !== -1) onStep(step, number, startedAt);
  }

  function charged(step: Draft, model: Model, counts: TokenCounts | null): void {
    if (!underWay.has(step)) return;
    if (counts === null) {
      end(step, 'no answer');
      return;
    }
    const { inputTokens, cacheWriteTokens, cacheReadTokens, outputTokens } = counts;
    const microUsd = costOf(model, counts);
    end(step, null, {
      inputTokens,
      cacheWriteTokens,
      cacheReadTokens,
      outputTokens,
      microUsd,
    });
  }

  return {
    async admitted({ model }, admit) {
      const step = begin('model', model.id);
      const admission = await admit();
      if (admission.kind === 'refused') {
        end(step, admission.message);
        return admission;
      }
      return {
        kind: 'admitted',
        charge(counts) {
          admission.charge(counts);
          charged(step, model, counts);
        },
      };
    },
    passedOver({ id }, { message }) {
      const last = steps.findLast(({ kind, name }) => kind === 'model' && name === id);
      if (last === undefined) return;
      last.error = beginningOf(message, MAX_ERROR_CHARS);
      changed(last);
    },
    async called({ name }, work) {
      const step = begin('host_tool', name);
      try {
        const result = await work();
        end(step, result.ok ? null : textOf(result.value));
        return result;
      } catch (error) {
        end(step, textOf(error));
        throw error;
      }
    },
    async checked({ name }, work) {
      const verdict = await work();
      if (verdict.kind === 'refused') end(begin('own_tool', name), verdict.reason);
      return verdict;
    },
    ownTool(run) {
      if (run.kind === 'began') {
        if (open.size < MAX_STEPS) open.set(run.id, begin('own_tool', run.name));
        return;
      }
      const step = open.get(run.id);
      if (step !== undefined) end(step, run.error);
      open.delete(run.id);
    },
    ended({ state, error }) {
      for (const step of [...underWay]) end(step, NOT_ENDED);
      const model = steps.find((step) => step.kind === 'model' && step.error === null);
      const times = { startedAt, endedAt: startedAt + sinceStart() };
      return { turnId, model: model?.name ?? null, ...times, state, error, leftOut, steps };
    },
  };
}

function textOf(value: unknown): string {
  if (value instanceof Error) return value.message;
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'failed');
}
