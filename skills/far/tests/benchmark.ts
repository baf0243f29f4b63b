// What the work queue adds to proofs on another machine: from the moment when the machine is free for a proof until its
// result is at home, more than the proof itself. `npx node scripts/bench/far.ts proofs [skills] [seconds of each]` starts it.
import { addSkill, type Codebase, temporaryCodebase } from '../../../src/testing/claw/codebase.ts';
import { proofHome } from './proof-scene.ts';

/** The tree of a middling project: 6 MB. */
const FILES = 1_500;
const FILE_CHARS = 4_000;

const [skills = '4', seconds = '1'] = process.argv.slice(2);
const count = Number(skills);
const isWhole = Number.isInteger(count) && count > 0 && Number(seconds) >= 0;
if (!isWhole) throw new Error('Say a number of skills and the seconds that each test waits.');

const home = await proofHome();
const nas = await home.join('nas');
for (const contents of ['all contents still to be sent', 'contents there']) {
  const codebase = codebaseOf(count, contents);
  const { data, stderr } = await home.matrix(codebase, '--on', 'far');
  const line = /\d+ proofs ran elsewhere; .*/.exec(stderr)?.[0] ?? stderr;
  const times = data.cells.map(({ ms }) => ms).toSorted((one, other) => one - other);
  const middle = ((times[Math.floor(times.length / 2)] ?? 0) / 1_000).toFixed(1);
  console.log(`${contents}: ${line} (median of a proof: ${middle} s)`);
  await codebase[Symbol.asyncDispose]();
}
await nas[Symbol.asyncDispose]();
await home[Symbol.asyncDispose]();

/** Skills whose tests wait; a new text makes each proof a new one, of the same files. */
function codebaseOf(skills: number, text: string): Codebase {
  const lines = Array.from({ length: skills }, (_, at) => `line ${at}\n\n`).join('');
  const files: Record<string, string> = { 'a.txt': lines };
  for (let at = 0; at < FILES; at += 1) {
    files[`files/${at}.txt`] = `${at} `.repeat(FILE_CHARS).slice(0, FILE_CHARS);
  }
  const codebase = temporaryCodebase(files, { git: true });
  for (let at = 0; at < skills; at += 1) {
    addSkill(codebase, `skill-${at}`, {
      modify: { 'a.txt': [lines, lines.replace(`line ${at}\n`, `line ${at}, changed\n`)] },
      tests: {
        'it.test.mjs':
          "import test from 'node:test';\nimport { setTimeout } from 'node:timers/promises';\n" +
          `test('${text}', () => setTimeout(${Number(seconds) * 1_000}));\n`,
      },
    });
  }
  return codebase;
}
