import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ClawError,
  type DescribedJob,
  describeJobs,
  type JobVerdict,
  type ProofJob,
  type ProofRunner,
  platformOf,
} from '@patchclaw/claw';
import { connectFar, type FarConnection } from '../../lib/far/far-connection.ts';
import { FarState } from '../../lib/far/far-state.ts';
import { type ProofRunnerContext, RunnerUnusable } from '../proof-runner.ts';
import { HOME, ProofLedger } from './proof-ledger.ts';
import { ProofMachines, removeText } from './proof-machines.ts';
import { BEAT_MS, type KnownResult, read, type Said, shortened } from './proof-messages.ts';
import { ProofQueue, type QueuedJob } from './proof-queue.ts';

export type FarProofsParts = ProofRunnerContext & {
  /** So many of a hundred proofs get a second opinion. */
  readonly percent: number;
};

type OpenedParts = FarProofsParts & {
  readonly state: FarState;
  readonly connection: FarConnection;
  readonly queue: ProofQueue;
  readonly run: string;
  /** Machines that lied in an earlier run. */
  readonly distrusted: readonly string[];
};

type Task = {
  readonly job: ProofJob;
  readonly described: DescribedJob;
  /** Told of each verdict that counts; of the last call in which the job was. */
  tell: (verdict: JobVerdict) => void;
  /** Another call has had its verdict. */
  isOfEarlierCall: boolean;
};

/** What a job in the queue came to: somebody said something of it, or no machine can run it. */
type Answer = 'said' | 'nobody';

/** A machine says every second that it is there, and at once when it hears of a run. */
const FIRST_WAIT_MS = 8_000;
const RETRY_MS = 300;
/** A machine that has become free is seen so soon. */
const LOOK_MS = 10;
const COUNT_MS = 5_000;
/** Without the server for so long, the home proves by itself. */
const CUT_OFF_MS = 60_000;

/**
 * Opens the runner: connects to the server, makes the queue, and waits for machines.
 *
 * @throws RunnerUnusable where there is no server, or no machine runs `claw far prove`
 */
export async function openFarProofs(parts: FarProofsParts): Promise<ProofRunner> {
  const state = new FarState(parts.dataDir);
  if (!state.isSetUp) {
    throw new RunnerUnusable('No machine has joined. Begin with `npx claw far setup <address>`.');
  }
  state.renew();
  const connection = await dialHome(state);
  const run = randomUUID();
  try {
    const queue = await ProofQueue.open(connection.nats, run);
    const distrusted = await readDistrusted(queue, state);
    const proofs = new FarProofs({ ...parts, state, connection, queue, run, distrusted });
    await proofs.waitForMachines();
    return proofs;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function dialHome(state: FarState): Promise<FarConnection> {
  const address = {
    ...state.address(),
    onUp: () => {},
    onRefused: () => {},
    inbox: 'far.home',
  };
  try {
    const trial = await connectFar({ ...address, waitsForServer: false });
    await trial.close();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new RunnerUnusable(
      `The server of your other machines does not answer (${reason}). Start the assistant with \`npm start\`, and try again.`,
    );
  }
  return await connectFar({ ...address, waitsForServer: true });
}

async function readDistrusted(queue: ProofQueue, state: FarState): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { name, key } of state.read().machines) {
    const known = await queue.result(distrustKey(name));
    // A machine that was removed and has joined again has another key.
    if (known !== null && Buffer.from(known).toString() === JSON.stringify(key)) found.push(name);
  }
  return found;
}

/** Proofs on the machines that have joined. Machines ask and answer here; the queue and the results are the home's. */
class FarProofs implements ProofRunner {
  readonly #parts: OpenedParts;
  readonly #ledger: ProofLedger;
  readonly #platform = platformOf(process);
  readonly #machines: ProofMachines;
  /** Jobs of all calls, by their digests. */
  readonly #tasks = new Map<string, Task>();
  /** Jobs that are in the queue or with a machine, and who waits for their answer. */
  readonly #waiting = new Map<string, (answer: Answer) => void>();
  readonly #withdrawn = new Set<string>();
  readonly #warnings = new Set<string>();
  readonly #timer: NodeJS.Timeout;
  #hasWithdrawn = false;
  #upAt = performance.now();
  #countedAt = 0;

  constructor(parts: OpenedParts) {
    this.#parts = parts;
    const { seed, percent, distrusted, connection, state, run, onProgress } = parts;
    this.#ledger = new ProofLedger({ seed, percent, distrusted });
    for (const name of distrusted) {
      this.#warnings.add(
        `${name} is not asked: its results were wrong before. ${removeText(name)}`,
      );
    }
    this.#machines = new ProofMachines({
      ...{ connection, state, run, onProgress },
      isDistrusted: (machine) => this.#ledger.isDistrusted(machine),
      contentsOf: (digest) => this.#taskOf(digest).described.content,
      doOthersWait: (digest) => this.#idle().some((one) => one !== digest),
      onVerdict: (machine, digest, verdict) => this.#take(machine, digest, verdict),
      onFailed: (machine, digest) => this.#ledger.fail(digest, machine),
      warn: (text) => this.#warnings.add(text),
    });
    this.#timer = setInterval(() => this.#beat(), BEAT_MS);
    this.#beat();
  }

  /** @throws RunnerUnusable where none comes */
  async waitForMachines(): Promise<void> {
    const until = performance.now() + FIRST_WAIT_MS;
    while (this.#machines.present().length === 0) {
      if (performance.now() > until) {
        await this.close();
        throw new RunnerUnusable(
          'No machine offers to prove. Run `npx claw far prove` on one that has joined, and try again.',
        );
      }
      await sleep(100);
    }
    // The others have been asked at the same time.
    await sleep(BEAT_MS);
    const names = this.#machines.present().join(', ');
    const { onProgress, seed } = this.#parts;
    onProgress(`proofs run on ${names}; --seed ${seed} chooses the same second opinions`);
  }

  async prove(
    jobs: readonly ProofJob[],
    onVerdict: (at: number, verdict: JobVerdict) => void,
  ): Promise<void> {
    for (const task of this.#tasks.values()) task.isOfEarlierCall = true;
    const mine = await this.#takeIn(jobs, onVerdict);
    const fault = new AbortController();
    const { signal } = this.#parts;
    const stop = signal === undefined ? fault.signal : AbortSignal.any([fault.signal, signal]);
    const pulling = this.#pull(stop);
    try {
      let open: readonly string[] = mine;
      while (open.length > 0) {
        await inParallel(open, fault, (digest) => this.#decide(digest, stop));
        open = [...new Set([...this.#withdrawn, ...this.#ledger.checkEachMachine()])];
        this.#withdrawn.clear();
      }
    } finally {
      fault.abort();
      this.#waiting.clear();
      this.#machines.endAll();
      await pulling;
    }
    for (const digest of mine) await this.#keep(digest, true);
  }

  takeWithdrawn(): boolean {
    const had = this.#hasWithdrawn;
    this.#hasWithdrawn = false;
    return had;
  }

  async close(): Promise<readonly string[]> {
    clearInterval(this.#timer);
    this.#machines.endAll();
    const { connection, queue, onProgress } = this.#parts;
    const { proofs, wholeMs, proofMs } = this.#machines.spent;
    if (proofs > 0) {
      const more = ((wholeMs / proofMs - 1) * 100).toFixed(1);
      onProgress(`${proofs} proofs ran elsewhere; the way there and back took ${more} % more`);
    }
    // Where the server is gone, what is left in the queue goes with its age.
    await queue.close().catch(() => {});
    await connection.flush().catch(() => {});
    await connection.close();
    return [...this.#warnings];
  }

  /** @returns the digests of the jobs */
  async #takeIn(
    jobs: readonly ProofJob[],
    onVerdict: (at: number, verdict: JobVerdict) => void,
  ): Promise<readonly string[]> {
    const describers = new Map<ProofJob['core'], ReturnType<typeof describeJobs>>();
    const mine = new Map<string, number[]>();
    for (const [at, job] of jobs.entries()) {
      const describe = describers.get(job.core) ?? describeJobs(job.core, this.#platform);
      describers.set(job.core, describe);
      const described = describe(job);
      const places = [...(mine.get(described.digest) ?? []), at];
      mine.set(described.digest, places);
      const tell = (verdict: JobVerdict) => {
        for (const place of places) onVerdict(place, verdict);
      };
      this.#tasks.set(described.digest, { job, described, tell, isOfEarlierCall: false });
    }
    for (const digest of mine.keys()) {
      const bytes = await this.#parts.queue.result(resultKey(digest));
      const known = bytes === null ? null : read.known(bytes);
      if (known !== null) {
        this.#ledger.remember(digest, known.verdict, known.by, known.isVouched);
      }
    }
    return [...mine.keys()];
  }

  /** Asks until the ledger has a verdict that counts. */
  async #decide(digest: string, stop: AbortSignal): Promise<void> {
    const task = this.#taskOf(digest);
    for (;;) {
      if (stop.aborted) throw interrupted();
      const step = this.#ledger.next(digest);
      if (step.kind === 'accepted') {
        if (task.isOfEarlierCall) this.#hasWithdrawn = true;
        task.tell(step.verdict);
        await this.#keep(digest, false);
        return;
      }
      const answer = step.kind === 'ask' ? await this.#askMachines(digest, stop) : 'nobody';
      if (answer === 'nobody') await this.#askHome(digest, task);
    }
  }

  async #askMachines(digest: string, stop: AbortSignal): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const end = () => reject(interrupted());
    stop.addEventListener('abort', end, { once: true });
    this.#waiting.set(digest, resolve);
    try {
      // Where the server is away just now, it is added when jobs are counted.
      await this.#parts.queue.add(digest).catch(() => {});
      return await promise;
    } finally {
      stop.removeEventListener('abort', end);
    }
  }

  async #askHome(digest: string, { job }: Task): Promise<void> {
    const verdict = await this.#parts.proveHere(job);
    const { liars, withdrawn, isUnsteady } = this.#ledger.sayHome(digest, verdict);
    for (const one of withdrawn) this.#withdrawn.add(one);
    if (isUnsteady) {
      this.#warnings.add(
        'A proof passed once and failed once on this machine: a test of it is not steady.',
      );
    }
    for (const liar of liars) await this.#distrust(liar);
  }

  async #distrust(liar: string): Promise<void> {
    const { queue, state, onProgress } = this.#parts;
    this.#machines.takeAllFrom(liar);
    const thrown: string[] = [];
    for (const key of await queue.keys('known')) {
      const bytes = await queue.result(key);
      if (bytes === null || read.known(bytes)?.by !== liar) continue;
      await queue.drop(key);
      thrown.push(key);
    }
    const machine = state.read().machines.find(({ name }) => name === liar);
    await queue.keep(distrustKey(liar), machine?.key ?? '');
    const text = `${liar} gave another result than this machine did, twice. Its ${thrown.length} results were thrown away and proved again; it is not asked any more. ${removeText(liar)}`;
    onProgress(text);
    this.#warnings.add(text);
  }

  /** Hands jobs of the queue to machines, as long as there are some that are free. */
  async #pull(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const isFree =
        this.#machines.present().length === 0 || this.#machines.free(new Set()) !== null;
      if (this.#waiting.size === 0 || !isFree) {
        await sleep(LOOK_MS);
        continue;
      }
      try {
        const job = await this.#parts.queue.take();
        if (job !== null) this.#hand(job);
      } catch {
        // The server is away, or the queue was lost with it: jobs are counted, and added again.
        await sleep(RETRY_MS);
      }
    }
  }

  #hand(job: QueuedJob): void {
    const { digest } = job;
    const answer = this.#waiting.get(digest);
    const step = this.#ledger.next(digest);
    if (answer === undefined || this.#machines.held().has(digest) || step.kind !== 'ask') {
      job.done();
      return;
    }
    if (!this.#machines.present().some((name) => !step.not.has(name))) {
      job.done();
      this.#waiting.delete(digest);
      answer('nobody');
      return;
    }
    const machine = this.#machines.free(step.not);
    if (machine === null) job.giveBack(RETRY_MS);
    else this.#machines.offer(machine, job);
  }

  #take(machine: string, digest: string, verdict: JobVerdict): void {
    this.#ledger.say(digest, machine, verdict);
    const answer = this.#waiting.get(digest);
    this.#waiting.delete(digest);
    answer?.('said');
  }

  #beat(): void {
    const { connection, queue } = this.#parts;
    const now = performance.now();
    if (connection.isUp) this.#upAt = now;
    this.#machines.beat(now);
    if (now - this.#countedAt > COUNT_MS && this.#waiting.size > this.#machines.held().size) {
      this.#countedAt = now;
      void queue
        .count()
        .then(
          async (count) => {
            if (count === 0) for (const digest of this.#idle()) await queue.add(digest);
          },
          () => this.#withoutServer(now),
        )
        .catch(() => {});
    }
  }

  /** Jobs that no machine has. */
  #idle(): readonly string[] {
    const held = this.#machines.held();
    return [...this.#waiting.keys()].filter((digest) => !held.has(digest));
  }

  #withoutServer(now: number): void {
    if (now - this.#upAt < CUT_OFF_MS) return;
    for (const digest of this.#idle()) {
      this.#waiting.get(digest)?.('nobody');
      this.#waiting.delete(digest);
    }
  }

  async #keep(digest: string, isVouched: boolean): Promise<void> {
    const step = this.#ledger.next(digest);
    if (step.kind !== 'accepted') return;
    const { failures, warnings, ms } = shortened(step.verdict);
    const verdict: Said['verdict'] = { failures: [...failures], warnings: [...warnings], ms };
    const known: KnownResult = { by: step.by, verdict, isVouched: isVouched || step.by === HOME };
    // A result that is not kept is proved again another time.
    await this.#parts.queue.keep(resultKey(digest), known).catch(() => {});
  }

  #taskOf(digest: string): Task {
    const task = this.#tasks.get(digest);
    if (task === undefined) throw new Error(`no job has the digest ${digest}`);
    return task;
  }
}

/** Does it for each at the same time. The first fault ends the others, and is thrown when they have ended. */
async function inParallel(
  digests: readonly string[],
  fault: AbortController,
  work: (digest: string) => Promise<void>,
): Promise<void> {
  const faults: unknown[] = [];
  await Promise.all(
    digests.map((digest) =>
      work(digest).catch((error: unknown) => {
        faults.push(error);
        fault.abort();
      }),
    ),
  );
  if (faults.length > 0) throw faults[0];
}

function interrupted(): ClawError {
  return new ClawError('INTERRUPTED', 'Interrupted; everything is as it was.');
}

function resultKey(digest: string): string {
  return `known.${digest}`;
}

function distrustKey(machine: string): string {
  return `distrusted.${machine}`;
}
