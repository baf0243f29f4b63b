import { hash } from 'node:crypto';
import type { JobVerdict } from '@patchclaw/claw';

/** What to do next with a job. */
export type LedgerStep =
  | { readonly kind: 'accepted'; readonly verdict: JobVerdict; readonly by: string }
  /** Ask a machine, but none of these. */
  | { readonly kind: 'ask'; readonly not: ReadonlySet<string> }
  | { readonly kind: 'ask-home' };

/** What the home's own proof has shown. */
export type HomeFindings = {
  /** Machines whose verdict was another one. Nothing that they said counts any more. */
  readonly liars: readonly string[];
  /** Jobs that count on such a machine, and have to be decided again. */
  readonly withdrawn: readonly string[];
  /** The home proved it twice, with two results: nobody has lied. */
  readonly isUnsteady: boolean;
};

export const HOME = 'home';

type Entry = {
  readonly said: Map<string, JobVerdict>;
  readonly failedOn: Set<string>;
  readonly home: JobVerdict[];
  isChecked: boolean;
  /** Known from an earlier run that ended well. */
  isVouched: boolean;
  accepted: { readonly verdict: JobVerdict; readonly by: string } | null;
};

/**
 * Who said what about which job, and whether it counts. Knows no machine, no clock and no network.
 *
 * A job that the seed chooses, and at least one of each machine, gets the opinion of a second machine. Where two differ,
 * the home proves the job itself, twice: its word counts. A machine whose verdict is another one is not asked again, and
 * everything that it said is decided anew.
 */
export class ProofLedger {
  readonly #seed: string;
  readonly #percent: number;
  readonly #entries = new Map<string, Entry>();
  readonly #distrusted: Set<string>;

  constructor(options: {
    readonly seed: string;
    readonly percent: number;
    readonly distrusted: Iterable<string>;
  }) {
    this.#seed = options.seed;
    this.#percent = options.percent;
    this.#distrusted = new Set(options.distrusted);
  }

  isDistrusted(machine: string): boolean {
    return this.#distrusted.has(machine);
  }

  /**
   * Takes in a result of an earlier run, unless the machine is one that has lied.
   *
   * @param isVouched whether that run ended, and so had second opinions of each machine
   */
  remember(job: string, verdict: JobVerdict, by: string, isVouched: boolean): void {
    if (this.#distrusted.has(by)) return;
    const entry = this.#of(job);
    entry.isVouched = isVouched;
    if (by !== HOME) entry.said.set(by, verdict);
    entry.accepted ??= { verdict, by };
  }

  say(job: string, machine: string, verdict: JobVerdict): void {
    if (!this.#distrusted.has(machine)) this.#of(job).said.set(machine, verdict);
  }

  /** The machine could not run it: it was lost, or its packages could not be installed there. */
  fail(job: string, machine: string): void {
    this.#of(job).failedOn.add(machine);
  }

  next(job: string): LedgerStep {
    const entry = this.#of(job);
    if (entry.accepted !== null) return { kind: 'accepted', ...entry.accepted };
    const [first, ...others] = entry.said;
    const wanted = entry.isChecked || isSampled(this.#seed, job, this.#percent) ? 2 : 1;
    if (first === undefined || entry.said.size < wanted) {
      const not = new Set([...entry.said.keys(), ...entry.failedOn, ...this.#distrusted]);
      return { kind: 'ask', not };
    }
    const [by, verdict] = first;
    if (others.some(([, other]) => !isSameVerdict(verdict, other))) return { kind: 'ask-home' };
    entry.accepted = { verdict, by };
    return { kind: 'accepted', verdict, by };
  }

  /** Takes in a proof of the home's own. A verdict that differs from a machine's is asked for twice. */
  sayHome(job: string, verdict: JobVerdict): HomeFindings {
    const entry = this.#of(job);
    entry.home.push(verdict);
    const [first = verdict, second] = entry.home;
    const differing = [...entry.said].filter(([, said]) => !isSameVerdict(said, first));
    if (second === undefined) {
      if (differing.length === 0) entry.accepted = { verdict, by: HOME };
      return NOTHING;
    }
    const isUnsteady = !isSameVerdict(first, second);
    // What fails once is not good.
    const worse = first.failures.length >= second.failures.length ? first : second;
    entry.accepted = { verdict: worse, by: HOME };
    if (isUnsteady) return { ...NOTHING, isUnsteady };
    const liars = differing.map(([machine]) => machine);
    return { liars, withdrawn: liars.flatMap((liar) => this.#discard(liar)), isUnsteady };
  }

  /** Returns jobs that are accepted and get a second opinion now: one for each machine that has had none. */
  checkEachMachine(): readonly string[] {
    const unchecked = new Map<string, string[]>();
    const checked = new Set<string>();
    for (const [job, { said, home, accepted, isVouched }] of this.#entries) {
      if (said.size + Math.min(1, home.length) > 1) for (const one of said.keys()) checked.add(one);
      else if (accepted !== null && accepted.by !== HOME && !isVouched) {
        unchecked.set(accepted.by, [...(unchecked.get(accepted.by) ?? []), job]);
      }
    }
    return [...unchecked].flatMap(([machine, jobs]) => {
      if (checked.has(machine)) return [];
      const [job] = jobs.toSorted((one, other) => this.#rank(one) - this.#rank(other));
      if (job === undefined) return [];
      const entry = this.#of(job);
      entry.isChecked = true;
      entry.accepted = null;
      return [job];
    });
  }

  #rank(job: string): number {
    return numberOf(`${this.#seed}\0${job}`);
  }

  /** @returns jobs whose verdict counted on this machine */
  #discard(liar: string): readonly string[] {
    this.#distrusted.add(liar);
    return [...this.#entries].flatMap(([job, entry]) => {
      if (!entry.said.delete(liar) || entry.accepted?.by !== liar) return [];
      const [other] = entry.said;
      entry.accepted = other === undefined ? null : { by: other[0], verdict: other[1] };
      return entry.accepted === null ? [job] : [];
    });
  }

  #of(job: string): Entry {
    const entry = this.#entries.get(job) ?? {
      said: new Map(),
      failedOn: new Set(),
      home: [],
      isChecked: false,
      isVouched: false,
      accepted: null,
    };
    this.#entries.set(job, entry);
    return entry;
  }
}

const NOTHING: HomeFindings = { liars: [], withdrawn: [], isUnsteady: false };

/** Tells whether the seed chooses this job. Whoever does not know the seed cannot tell. */
export function isSampled(seed: string, job: string, percent: number): boolean {
  return numberOf(`${seed}\0${job}`) < percent / 100;
}

/** Verdicts are the same where the same things fail: times and outputs differ from machine to machine. */
export function isSameVerdict(one: JobVerdict, other: JobVerdict): boolean {
  return failing(one) === failing(other);
}

function failing({ failures }: JobVerdict): string {
  return JSON.stringify(failures.map(({ kind, name }) => `${kind} ${name}`).sort());
}

/** From 0 to below 1. */
function numberOf(text: string): number {
  return Number.parseInt(hash('sha256', text, 'hex').slice(0, 12), 16) / 2 ** 48;
}
