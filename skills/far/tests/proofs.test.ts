import { expect, test } from 'vitest';
import type { MatrixData } from '../../../packages/claw/src/index.ts';
import { proofSubjects, read } from '../../../src/proof-runners/far/proof-messages.ts';
import { addSkill, type Codebase, temporaryCodebase } from '../../../src/testing/claw/codebase.ts';
import { describeWithEngine } from '../../../src/testing/engine.ts';
import { FAILING, proofHome } from './proof-scene.ts';

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
