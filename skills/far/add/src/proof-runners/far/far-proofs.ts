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
import { TokenBucket } from '../../lib/token-bucket.ts';
import { type ProofRunnerContext, RunnerUnusable } from '../proof-runner.ts';
import { HOME, ProofLedger } from './proof-ledger.ts';
import {
  AWAY_MS,
  BEAT_MS,
  contentPart,
  type Here,
  type KnownResult,
  type Offers,
  proofSubjects,
  read,
  type Said,
  shortened,
} from './proof-messages.ts';
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

/** A machine that runs `claw far prove`. */
type Prover = { readonly here: Here; readonly heardAt: number };

/** A job that a machine has. */
type Offer = {
  readonly machine: string;
  readonly boot: string;
  readonly job: QueuedJob;
  readonly offeredAt: number;
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
const WORKING_MS = 5_000;
const COUNT_MS = 5_000;
/** Without the server for so long, the home proves by itself. */
const CUT_OFF_MS = 60_000;
/** A machine that has a job for longer loses it, whatever it says. */
const MOST_MS = 3_600_000;
const SENT_AT_ONCE_BYTES = 4 * 1024 ** 2;
/** What a machine may say: results have up to half a megabyte, and are repeated each second until they are heard. */
const HEARD_BYTES = { burst: 64 * 1024 ** 2, perSecond: 8 * 1024 ** 2 };
const MESSAGE_COST_BYTES = 1_024;
/** Each may ask for 128 contents. */
const NEEDS = { burst: 100, perSecond: 10 };

/** What is heard of one machine. */
function hearing() {
  const now = () => performance.now();
  return {
    bytes: new TokenBucket({ ...HEARD_BYTES, now }),
    needs: new TokenBucket({ ...NEEDS, now }),
    isIgnored: false,
  };
}

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
  readonly #provers = new Map<string, Prover>();
  readonly #offers = new Map<string, Offer>();
  readonly #hearing = new Map<string, ReturnType<typeof hearing>>();
  /** Tickets of all offers so far: what a machine says that it runs may be a second old. */
  readonly #tickets = new Set<string>();
  /** Jobs of all calls, by their digests. */
  readonly #tasks = new Map<string, Task>();
  /** Jobs that are in the queue or with a machine, and who waits for their answer. */
  readonly #waiting = new Map<string, (answer: Answer) => void>();
  readonly #withdrawn = new Set<string>();
  readonly #warnings = new Set<string>();
  readonly #timer: NodeJS.Timeout;
  #joined: readonly string[] = [];
  #drained: ReadonlySet<string> = new Set();
  #hasWithdrawn = false;
  #upAt = performance.now();
  #workingAt = 0;
  #countedAt = 0;
  /** When a machine had its last answer out, while other jobs waited. */
  readonly #freeSince = new Map<string, number>();
  /** Of all proofs elsewhere: from the offer, or from when the machine was free for it, to the answer; and the proof alone. */
  readonly #spent = { proofs: 0, wholeMs: 0, proofMs: 0 };

  constructor(parts: OpenedParts) {
    this.#parts = parts;
    const { seed, percent, distrusted, connection } = parts;
    this.#ledger = new ProofLedger({ seed, percent, distrusted });
    for (const name of distrusted) {
      this.#warnings.add(
        `${name} is not asked: its results were wrong before. ${removeText(name)}`,
      );
    }
    connection.subscribe(proofSubjects.allUp, (subject, message) => this.#heard(subject, message));
    this.#timer = setInterval(() => this.#beat(), BEAT_MS);
    this.#beat();
  }

  /** @throws RunnerUnusable where none comes */
  async waitForMachines(): Promise<void> {
    const until = performance.now() + FIRST_WAIT_MS;
    while (this.#present().length === 0) {
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
    const names = this.#present().join(', ');
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
      this.#offers.clear();
      this.#waiting.clear();
      this.#sayOffers();
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
    this.#offers.clear();
    this.#sayOffers();
    const { connection, queue, onProgress } = this.#parts;
    const { proofs, wholeMs, proofMs } = this.#spent;
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
    for (const [ticket, { machine, job }] of this.#offers) {
      if (machine !== liar) continue;
      this.#offers.delete(ticket);
      job.giveBack(0);
    }
    this.#sayOffers();
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
      const isFree = this.#present().length === 0 || this.#free(new Set()) !== null;
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
    const isWithSomebody = [...this.#offers.values()].some((one) => one.job.digest === digest);
    const step = this.#ledger.next(digest);
    if (answer === undefined || isWithSomebody || step.kind !== 'ask') {
      job.done();
      return;
    }
    if (!this.#present().some((name) => !step.not.has(name))) {
      job.done();
      this.#waiting.delete(digest);
      answer('nobody');
      return;
    }
    const machine = this.#free(step.not);
    const boot = machine === null ? undefined : this.#provers.get(machine)?.here.boot;
    if (machine === null || boot === undefined) {
      job.giveBack(RETRY_MS);
      return;
    }
    const ticket = randomUUID();
    this.#tickets.add(ticket);
    const offeredAt = this.#freeSince.get(machine) ?? performance.now();
    this.#freeSince.delete(machine);
    this.#offers.set(ticket, { machine, boot, job, offeredAt });
    this.#sayOffers(machine);
  }

  /** Returns the least busy machine that is free, but none of these. */
  #free(not: ReadonlySet<string>): string | null {
    const loads = this.#present().flatMap((name) => {
      const here = this.#provers.get(name)?.here;
      if (here === undefined || not.has(name)) return [];
      const mine = [...this.#offers.values()].filter(({ machine }) => machine === name).length;
      const others = here.running.filter((ticket) => !this.#tickets.has(ticket)).length;
      return mine + others < here.slots ? [{ name, load: (mine + others) / here.slots }] : [];
    });
    return loads.toSorted((one, other) => one.load - other.load)[0]?.name ?? null;
  }

  /** Names of the machines that can be asked now. */
  #present(): readonly string[] {
    const now = performance.now();
    return [...this.#provers].flatMap(([name, { here, heardAt }]) => {
      const isUsable =
        now - heardAt < AWAY_MS &&
        here.platform === this.#platform &&
        !this.#drained.has(name) &&
        !this.#ledger.isDistrusted(name);
      return isUsable ? [name] : [];
    });
  }

  #heard(subject: string, message: Buffer): void {
    // The server lets a machine send below its own name alone.
    const [, , machine = '', , kind] = subject.split('.');
    const heard = this.#hearing.get(machine) ?? hearing();
    this.#hearing.set(machine, heard);
    if (heard.isIgnored) return;
    if (!heard.bytes.take(message.length + MESSAGE_COST_BYTES)) {
      heard.isIgnored = true;
      this.#provers.delete(machine);
      this.#warnings.add(
        `${machine} sends far more than a worker has reason to, and was not asked any more. ${removeText(machine)}`,
      );
      this.#takeBack((offer) => offer.machine === machine);
      return;
    }
    if (kind === 'here') this.#heardHere(machine, message);
    if (kind === 'need' && heard.needs.take()) void this.#send(machine, message).catch(() => {});
    if (kind === 'said') this.#heardSaid(machine, message);
  }

  #heardHere(machine: string, message: Buffer): void {
    const here = read.here(message);
    if (here === null) return;
    this.#provers.set(machine, { here, heardAt: performance.now() });
    // Another worker than the one that had the jobs has none of them.
    this.#takeBack((offer) => offer.machine === machine && offer.boot !== here.boot);
  }

  /** Takes a result only from the machine that has the job. */
  #heardSaid(machine: string, message: Buffer): void {
    const said = read.said(message);
    const offer = said === null ? undefined : this.#offers.get(said.ticket);
    if (said === null || offer === undefined || offer.machine !== machine) return;
    this.#offers.delete(said.ticket);
    this.#sayOffers(machine);
    const { job, offeredAt } = offer;
    const { verdict } = said;
    if (verdict === null || verdict.failures.some(({ kind }) => kind === 'npm')) {
      if (said.reason === 'busy') {
        job.giveBack(RETRY_MS);
        return;
      }
      const reason = said.reason || 'its packages cannot be installed there';
      this.#parts.onProgress(`${machine} could not run a proof: ${reason}`);
      this.#ledger.fail(job.digest, machine);
      job.giveBack(0);
      return;
    }
    this.#spent.proofs += 1;
    this.#spent.wholeMs += performance.now() - offeredAt;
    this.#spent.proofMs += verdict.ms;
    if (this.#idle().some((one) => one !== job.digest))
      this.#freeSince.set(machine, performance.now());
    this.#ledger.say(job.digest, machine, verdict);
    job.done();
    const answer = this.#waiting.get(job.digest);
    this.#waiting.delete(job.digest);
    answer?.('said');
  }

  /** Sends contents to a machine that has the job to which they belong. */
  async #send(machine: string, message: Buffer): Promise<void> {
    const need = read.need(message);
    const offer = need === null ? undefined : this.#offers.get(need.ticket);
    if (need === null || offer === undefined || offer.machine !== machine) return;
    const { described } = this.#taskOf(offer.job.digest);
    const { connection } = this.#parts;
    let sentBytes = 0;
    for (const digest of need.digests) {
      const content = described.content(digest);
      if (content === null) continue;
      for (const part of contentPart.write(digest, content)) {
        connection.publish(proofSubjects.down(machine, 'part'), part);
        sentBytes += part.length;
        if (sentBytes > SENT_AT_ONCE_BYTES) {
          await connection.flush();
          sentBytes = 0;
        }
      }
    }
  }

  #beat(): void {
    const { connection, state, queue } = this.#parts;
    const now = performance.now();
    if (connection.isUp) this.#upAt = now;
    const { machines } = state.read();
    this.#joined = machines.map(({ name }) => name);
    this.#drained = new Set(machines.flatMap(({ name, isDraining }) => (isDraining ? [name] : [])));
    this.#takeBack(({ machine, offeredAt }) => {
      const heardAt = this.#provers.get(machine)?.heardAt ?? 0;
      return now - heardAt > AWAY_MS || now - offeredAt > MOST_MS;
    });
    this.#sayOffers();
    if (now - this.#workingAt > WORKING_MS) {
      this.#workingAt = now;
      for (const { job } of this.#offers.values()) job.working();
    }
    if (now - this.#countedAt > COUNT_MS && this.#waiting.size > this.#offers.size) {
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
    const held = new Set([...this.#offers.values()].map(({ job }) => job.digest));
    return [...this.#waiting.keys()].filter((digest) => !held.has(digest));
  }

  #withoutServer(now: number): void {
    if (now - this.#upAt < CUT_OFF_MS) return;
    for (const digest of this.#idle()) {
      this.#waiting.get(digest)?.('nobody');
      this.#waiting.delete(digest);
    }
  }

  /** Gives jobs back to the queue: another machine shall have them. */
  #takeBack(isLost: (offer: Offer) => boolean): void {
    for (const [ticket, offer] of this.#offers) {
      if (!isLost(offer)) continue;
      this.#offers.delete(ticket);
      this.#parts.onProgress(`${offer.machine} was lost in a proof, which goes to another machine`);
      this.#ledger.fail(offer.job.digest, offer.machine);
      offer.job.giveBack(0);
    }
  }

  /** Says to machines which jobs they have. */
  #sayOffers(only: string | null = null): void {
    const { connection, run } = this.#parts;
    for (const machine of this.#joined) {
      if (only !== null && machine !== only) continue;
      const jobs = [...this.#offers].flatMap(([ticket, offer]) =>
        offer.machine === machine ? [{ ticket, digest: offer.job.digest }] : [],
      );
      const offers: Offers = { run, jobs };
      connection.publish(proofSubjects.down(machine, 'jobs'), JSON.stringify(offers));
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

function removeText(machine: string): string {
  return `Find out why, or take it out: \`npx claw far remove ${machine}\`.`;
}
