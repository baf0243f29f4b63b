import { openContributions, type SilentContribution } from '../../../lib/contribution.ts';
import type { Environment } from '../../../lib/settings.ts';
import { createSignal, type Signal } from '../../../lib/signal.ts';
import type { HostToolResult } from '../../../sandbox/sandbox.ts';
import type {
  Grant,
  Guard,
  GuardContext,
  GuardContribution,
  GuardedCall,
  GuardedTool,
  OwnTools,
  ToolTurn,
  Verdict,
} from '../../contracts/guard.ts';
import type { HostLog } from '../../contracts/log.ts';

/** All guards of this tree as one. */
export interface Guards {
  isOffered(tool: GuardedTool, turn: ToolTurn): boolean;
  /** The agent's own tools that some guard looks at. */
  readonly ownTools: OwnTools;
  /** Tells whether some guard looks at the result of such a call. */
  seesResult(call: GuardedCall): boolean;
  /**
   * Returns why a call does not run, in words for the agent; null lets it run.
   *
   * @param otherwise the reason where no guard has one, for a call that cannot run anyway
   */
  refusalOf(call: GuardedCall, ask: AskOwner, otherwise?: string | null): Promise<string | null>;
  resultOf(call: GuardedCall, result: HostToolResult): Promise<HostToolResult>;
  /** Calls the listener with words for the owner where a guard could not look at a call, once an hour. */
  readonly onBroken: Signal<string>['on'];
}

/**
 * Shows a call to the owner and waits for their word, which may be one of the grants. Returns why it does not run; null
 * at a yes.
 */
export type AskOwner = (
  call: GuardedCall,
  reason: string,
  grants: readonly Grant[],
) => Promise<string | null>;

/**
 * Opens the guards of this tree, in their order. A guard whose settings cannot be used refuses every call: nobody
 * knows what it should have prevented.
 */
export function openGuards(
  definitions: readonly GuardContribution[],
  environment: Environment,
  { dataDir, groupsDir, timeZone, log, now, newId }: GuardContext,
): { readonly guards: Guards; readonly silent: readonly SilentContribution[] } {
  const inOrder = definitions.toSorted(
    (one, other) => one.order - other.order || (one.name < other.name ? -1 : 1),
  );
  const contextOf = () => ({ dataDir, groupsDir, timeZone, log, now, newId });
  const { made, silent } = openContributions(inOrder, environment, contextOf);
  const broken = silent.filter(isBroken).map(closed);
  const ownToolsOf = ({ name }: { readonly name: string }): OwnTools =>
    inOrder.find((one) => one.name === name)?.ownTools ?? [];
  const all = [...broken, ...made].map((one) => ({ ...one, ownTools: ownToolsOf(one) }));
  return { guards: asOne(all, log, now), silent };
}

/** Says what a guard that is switched off means for the calls that it should check. */
export function effectOf(one: SilentContribution): string {
  return isBroken(one) ? 'refuses every call of a host tool' : 'off';
}

function isBroken({ wrong, unusable }: SilentContribution): boolean {
  return wrong.length > 0 || unusable !== undefined;
}

type NamedGuard = { readonly name: string; readonly value: Guard; readonly ownTools: OwnTools };

function closed({ name }: SilentContribution): Omit<NamedGuard, 'ownTools'> {
  const reason = `This tool cannot be used: the settings of the guard ${name} are wrong, which the owner has to fix.`;
  return { name, value: { before: () => ({ kind: 'deny', reason }) } };
}

/** The guards that want the owner to be asked, by name. */
type Asking = ReadonlyMap<string, Extract<Verdict, { kind: 'ask' }>>;

const TELL_AGAIN_MS = 3_600_000;

function asOne(guards: readonly NamedGuard[], log: HostLog, now: () => number): Guards {
  const broken = createSignal<string>();
  const toldAt = new Map<string, number>();

  function tellOwner(name: string, error: unknown): void {
    if (now() - (toldAt.get(name) ?? Number.NEGATIVE_INFINITY) < TELL_AGAIN_MS) return;
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
    try {
      broken.emit(
        `The guard ${name} could not look at a call of a tool (${reason}). Calls are refused until it can.`,
      );
      toldAt.set(name, now());
    } catch (notTold) {
      log.warn('the owner was not told of a guard', { guard: name, error: String(notTold) });
    }
  }

  function failed(name: string, error: unknown): string {
    log.error('a guard broke, the call is refused', { guard: name, error: String(error) });
    tellOwner(name, error);
    return `The guard ${name} could not look at this call, so it is refused.`;
  }

  async function verdictOf({ name, value }: NamedGuard, call: GuardedCall): Promise<Verdict> {
    try {
      return (await value.before?.(call)) ?? { kind: 'allow' };
    } catch (error) {
      return { kind: 'deny', reason: failed(name, error) };
    }
  }

  /** Asks once for all guards that want it. */
  async function askFor(asking: Asking, call: GuardedCall, ask: AskOwner) {
    const guard = [...asking.keys()].join(', ');
    log.info('the owner is asked about a call', { guard, tool: call.tool.name });
    try {
      const verdicts = [...asking.values()];
      const reasons = verdicts.map(({ reason }) => reason).join(' ');
      return await ask(
        call,
        reasons,
        verdicts.flatMap(({ grants = [] }) => grants),
      );
    } catch (error) {
      return failed(guard, error);
    }
  }

  /** Returns the decision, once all guards are told of it. */
  function tellAll(call: GuardedCall, refusal: string | null): string | null {
    let decision = refusal;
    for (const { name, value } of lookingAt(call)) {
      try {
        value.decided?.(call, decision);
      } catch (error) {
        decision ??= failed(name, error);
      }
    }
    return decision;
  }

  const lookingAt = ({ tool, runsIn }: GuardedCall) =>
    runsIn === 'container'
      ? guards.filter(({ ownTools }) => ownTools === 'all' || ownTools.includes(tool.name))
      : guards;

  return {
    onBroken: broken.on,
    ownTools: guards.some(({ ownTools }) => ownTools === 'all')
      ? 'all'
      : guards.flatMap(({ ownTools }) => ownTools),
    seesResult: (call) => lookingAt(call).some(({ value }) => value.after !== undefined),
    isOffered: (tool, turn) => guards.every(({ value }) => value.isOffered?.(tool, turn) ?? true),
    async refusalOf(call, ask, otherwise = null) {
      const asking = new Map<string, Extract<Verdict, { kind: 'ask' }>>();
      for (const guard of lookingAt(call)) {
        const verdict = await verdictOf(guard, call);
        if (verdict.kind === 'deny') return tellAll(call, verdict.reason);
        if (verdict.kind === 'ask') asking.set(guard.name, verdict);
      }
      const refusal = asking.size === 0 ? null : await askFor(asking, call, ask);
      return tellAll(call, refusal ?? otherwise);
    },
    async resultOf(call, result) {
      let seen = result;
      for (const { name, value } of lookingAt(call)) {
        try {
          const after = (await value.after?.(call, seen)) ?? seen;
          const { fault } = seen;
          const lost = !after.ok && after.fault === undefined && fault !== undefined;
          seen = lost ? { ...after, fault } : after;
        } catch (error) {
          return { ok: false, value: failed(name, error) };
        }
      }
      return seen;
    },
  };
}
