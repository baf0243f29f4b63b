import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createUser } from '@nats-io/nkeys';
import { expect, test } from 'vitest';
import type { JobRunner, JobVerdict, MatrixData } from '../../../packages/claw/src/index.ts';
import { connectFar, type FarConnection } from '../../../src/lib/far/far-connection.ts';
import { FarState } from '../../../src/lib/far/far-state.ts';
import { writeWorkerConfig } from '../../../src/lib/far/worker-folder.ts';
import { ContentFolder } from '../../../src/proof-runners/far/content-folder.ts';
import { proofSubjects, read } from '../../../src/proof-runners/far/proof-messages.ts';
import { ProofQueue } from '../../../src/proof-runners/far/proof-queue.ts';
import { ProofWorker } from '../../../src/proof-runners/far/proof-worker.ts';
import { runNatsServer } from '../../../src/sandbox/machines/far/nats-server.ts';
import {
  addSkill,
  CLAW,
  type Codebase,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';
import { describeWithEngine } from '../../../src/testing/engine.ts';

const MAIN = resolve(import.meta.dirname, '../../../src/proof-runners/far/prove-main.ts');
const WORDS = ['one', 'four', 'five', 'six'];
const LINES = `${WORDS.join('\n\n')}\n`;

await describeWithEngine('bubblewrap', 'proofs on other machines, over a real NATS server', () => {
  test('a matrix on two machines, one killed in the middle and one that lies, is that of this machine', async () => {
    await using codebase = skilledCodebase();
    await using home = await proofHome();
    const here = await home.matrix(codebase);
    expect(here.code).toBe(4);

    await using nas = await home.join('nas');
    await using _ = await home.join('desk');
    await using __ = await home.joinLiar('eve');
    // Killed in the middle of a proof.
    home.connection.subscribe(proofSubjects.up('nas', 'here'), (___, message) => {
      if ((read.here(message)?.running.length ?? 0) > 0) nas.process.kill('SIGKILL');
    });
    const there = await home.matrix(codebase, '--on', 'far', '--seed', 'a seed');
    expect(outcomes(there.data)).toEqual(outcomes(here.data));
    expect(there.code).toBe(4);
    expect(nas.process.signalCode).toBe('SIGKILL');
    expect(there.stderr).toContain('nas was lost in a proof, which goes to another machine');
    const [warning = ''] = there.warnings.filter((text) => text.includes('gave another result'));
    expect(warning).toMatch(/^eve gave another result than this machine did, twice\./);
    expect(warning).toContain('`npx claw far remove eve`');
    expect(await home.knownBy()).toEqual(new Set(['desk', 'home']));

    // Everything is known, and the liar as well.
    const again = await home.matrix(codebase, '--on', 'far');
    expect(outcomes(again.data)).toEqual(outcomes(here.data));
    expect(again.stderr).not.toContain('proofs ran elsewhere');
    expect(again.warnings.join()).toContain('eve is not asked');
  });

  test('a machine that cannot prove is passed over, and the home proves where none can', async () => {
    await using codebase = skilledCodebase();
    await using home = await proofHome();
    const here = await home.matrix(codebase, 'skill-one', 'skill-five');
    await using _ = await home.joinWorker('full', async () => {
      throw new Error('the disk is full');
    });
    const there = await home.matrix(codebase, 'skill-one', 'skill-five', '--on', 'far');
    expect(outcomes(there.data)).toEqual(outcomes(here.data));
    expect(there.stderr).toContain('full could not run a proof: the disk is full');
    expect(there.stderr).not.toContain('proofs ran elsewhere');
  });

  test('a result counts only from the machine that has the job, and no machine reaches the queue', async () => {
    await using codebase = skilledCodebase();
    await using home = await proofHome();
    const eve = await home.dial('eve');
    const heard: string[] = [];
    for (const subject of ['far.>', 'far.down.desk.>', '$JS.API.>', '$KV.>', '_INBOX.>']) {
      eve.subscribe(subject, (name) => void heard.push(name));
    }
    const tickets: string[] = [];
    await using _ = await home.joinWorker('desk', async () => {
      // Another machine says that it has failed, in its own name and in that of this one.
      const said = { verdict: FAILING, reason: '' };
      for (const ticket of tickets) {
        for (const machine of ['eve', 'desk']) {
          eve.publish(proofSubjects.up(machine, 'said'), JSON.stringify({ ...said, ticket }));
        }
        eve.publish(proofSubjects.up('eve', 'need'), JSON.stringify({ ticket, digests: [] }));
      }
      eve.publish('$KV.PROOF_RESULTS.known.x', JSON.stringify({ by: 'eve', verdict: FAILING }));
      eve.publish('$JS.API.STREAM.PURGE.PROOFS', '');
      await eve.flush();
      await home.connection.flush();
      return { failures: [], warnings: [], ms: 1 };
    });
    home.connection.subscribe(proofSubjects.up('desk', 'here'), (__, message) => {
      tickets.push(...(read.here(message)?.running ?? []));
    });
    const { data } = await home.matrix(codebase, 'skill-one', '--on', 'far');
    expect(tickets).not.toEqual([]);
    expect(data.summary).toMatchObject({ clean: 1, failing: 0 });
    expect(heard).toEqual([]);
    await eve.close();
  });

  test('a machine that sends without end is not asked any more, and the matrix goes on', async () => {
    await using codebase = skilledCodebase();
    await using home = await proofHome();
    const eve = await home.dial('eve');
    let isFlooding = true;
    await using _ = await home.joinWorker('desk', async () => {
      const said = Buffer.from(JSON.stringify({ verdict: FAILING, reason: '', ticket: 'x' }));
      for (let count = 0; isFlooding && count < 100_000; count += 1) {
        eve.publish(proofSubjects.up('eve', 'said'), said);
      }
      isFlooding = false;
      await eve.flush();
      await home.connection.flush();
      return { failures: [], warnings: [], ms: 1 };
    });
    const { data, warnings } = await home.matrix(codebase, 'skill-one', '--on', 'far');
    expect(data.summary).toMatchObject({ clean: 1, failing: 0 });
    expect(warnings.join()).toContain('eve sends far more than a worker has reason to');
    await eve.close();
  });

  test('without a machine that proves, the owner is told what to do', async () => {
    await using codebase = skilledCodebase();
    await using home = await proofHome();
    const run = await home.run(codebase, '--on', 'far');
    expect(run.code).toBe(2);
    expect(run.stdout).toContain('No machine offers to prove. Run `npx claw far prove`');
  });
});

const FAILING: JobVerdict = {
  failures: [{ kind: 'check', name: 'a lie', text: 'a lie', output: 'a lie' }],
  warnings: [],
  ms: 1,
};

/** Four skills of one line each; the tests of one fail, those of another as soon as a third is there. */
function skilledCodebase(): Codebase {
  const codebase = temporaryCodebase({ 'a.txt': LINES }, { git: true });
  for (const word of WORDS) {
    const condition =
      word === 'six' ? 'false' : word === 'five' ? "!text.includes('FOUR')" : 'text.length > 0';
    addSkill(codebase, `skill-${word}`, {
      modify: { 'a.txt': [LINES, LINES.replace(word, word.toUpperCase())] },
      tests: {
        'it.test.mjs':
          "import test from 'node:test';\nimport assert from 'node:assert';\nimport { readFileSync } from 'node:fs';\n" +
          "const text = readFileSync(new URL('../../../a.txt', import.meta.url), 'utf8');\n" +
          `test('holds', () => assert(${condition}));\n`,
      },
    });
  }
  return codebase;
}

const outcomes = ({ cells }: MatrixData) =>
  cells.map(({ skills, outcome, failures }) => [
    skills.join('+'),
    outcome,
    failures.map(({ kind, name }) => `${kind} ${name}`),
  ]);

type MatrixRun = {
  readonly code: number | null;
  readonly data: MatrixData;
  readonly warnings: readonly string[];
  readonly stderr: string;
};

type ProofHome = AsyncDisposable & {
  readonly connection: FarConnection;
  run(
    codebase: Codebase,
    ...args: string[]
  ): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>;
  matrix(codebase: Codebase, ...args: string[]): Promise<MatrixRun>;
  dial(name: string): Promise<FarConnection>;
  join(name: string): Promise<AsyncDisposable & { readonly process: ChildProcess }>;
  joinWorker(name: string, prove: JobRunner['run']): Promise<AsyncDisposable>;
  /** A machine that says the opposite of what is. */
  joinLiar(name: string): Promise<AsyncDisposable>;
  /** Machines whose results are kept. */
  knownBy(): Promise<ReadonlySet<string>>;
};

/** A real server, and what dials it. */
async function proofHome(): Promise<ProofHome> {
  const port = await freePort();
  const dataDir = mkdtempSync(join(tmpdir(), 'claw-far-proofs-'));
  const state = new FarState(dataDir);
  await state.setUp('127.0.0.1', port);
  const server = await runNatsServer(state, () => {});
  const folders = [dataDir];
  const connections: FarConnection[] = [];
  const usual = {
    ...{ host: '127.0.0.1', port, certificate: state.certificate(), waitsForServer: true },
    ...{ onUp: () => {}, onRefused: () => {} },
  };
  const dialAs = async (seed: string, inbox: string) => {
    const connection = await connectFar({ ...usual, seed, inbox });
    connections.push(connection);
    return connection;
  };
  const enrolled = (name: string): string => {
    const user = createUser();
    state.add(name, Date.now());
    state.enrol(name, user.getPublicKey(), Date.now());
    state.reload();
    return new TextDecoder().decode(user.getSeed());
  };
  const folder = () => {
    const dir = mkdtempSync(join(tmpdir(), 'claw-far-prover-'));
    folders.push(dir);
    return dir;
  };
  const connection = await dialAs(state.read().homeSeed, 'far.home');
  const home: ProofHome = {
    connection,
    async run(codebase, ...args) {
      const child = spawn(
        process.execPath,
        [CLAW, 'matrix', '--json', '--cwd', codebase.root, ...args],
        {
          stdio: ['ignore', 'pipe', 'pipe'],
          env: { ...process.env, CLAW_DATA: dataDir, FAR_SECOND_OPINIONS: '1' },
        },
      );
      const text = { stdout: '', stderr: '' };
      for (const name of ['stdout', 'stderr'] as const) {
        child[name].on('data', (chunk: Buffer) => {
          text[name] += chunk.toString();
        });
      }
      const [code] = await once(child, 'close');
      return { code, ...text };
    },
    async matrix(codebase, ...args) {
      const { code, stdout, stderr } = await home.run(codebase, ...args);
      const { data, warnings } = JSON.parse(stdout);
      if (data === null) throw new Error(`${stdout}\n${stderr}`);
      return { code, data, warnings, stderr };
    },
    dial: (name) => dialAs(enrolled(name), `far.down.${name}`),
    async join(name) {
      const own = folder();
      const { host, certificate } = usual;
      writeWorkerConfig(own, {
        ...{ name, host, port, certificate, seed: enrolled(name) },
        ...{ abilities: [], capacity: 1, patienceMinutes: 60 },
      });
      const child = spawn(process.execPath, [MAIN, own, '1'], {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
      });
      await once(child.stdout, 'data');
      return {
        process: child,
        async [Symbol.asyncDispose]() {
          if (child.exitCode !== null || child.signalCode !== null) return;
          const ended = once(child, 'exit');
          child.kill('SIGTERM');
          await ended;
        },
      };
    },
    async joinWorker(name, prove) {
      const worker = new ProofWorker({
        machine: name,
        connection: await home.dial(name),
        slots: 1,
        contents: new ContentFolder(folder()),
        runner: { run: prove, close: async () => {} },
        elapsed: () => process.uptime() * 1_000,
        onProgress: () => {},
      });
      return { [Symbol.asyncDispose]: () => worker.stop() };
    },
    joinLiar: (name) =>
      home.joinWorker(name, async ({ tests }) => {
        const names = tests.map(({ skill }) => skill);
        const isGood =
          !names.includes('skill-six') &&
          !(names.includes('skill-five') && names.includes('skill-four'));
        return isGood ? FAILING : { failures: [], warnings: [], ms: 1 };
      }),
    async knownBy() {
      const queue = await ProofQueue.open(connection.nats, 'look');
      const found = new Set<string>();
      for (const key of await queue.keys('known')) {
        const known = read.known((await queue.result(key)) ?? Buffer.alloc(0));
        if (known !== null) found.add(known.by);
      }
      await queue.close();
      return found;
    },
    async [Symbol.asyncDispose]() {
      for (const one of connections) await one.close();
      await server.stop();
      for (const dir of folders) rmSync(dir, { recursive: true, force: true });
    },
  };
  return home;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  server.close();
  await once(server, 'close');
  return port;
}
