import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { type Clone, cloneRepository } from '../test/story/clone.ts';

/**
 * Proves skills on one core beside two busy loops, as on a small and busy machine: all of them in one command, and
 * each alone.
 *
 *   npm run proof-under-load                    everything, which takes hours
 *   npm run proof-under-load -- --together      all in one command
 *   npm run proof-under-load -- --short         guard and web alone
 *   npm run proof-under-load -- NAME...         these alone
 *
 * Ends with 1 if a proof failed. `taskset` in package.json holds it and all that it starts to one core.
 */

const SKILLS = join(import.meta.dirname, '../skills');
const SHORT = ['guard', 'web'];
const LOOPS = 2;
/** A loop that was forgotten ends by itself. */
const LOOP_SECONDS = 6 * 3600;

const Manifest = z.object({ depends: z.array(z.string()).default([]) });

const names = readdirSync(SKILLS, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort();

/** Returns a skill behind those that it needs. */
function withNeeds(name: string): readonly string[] {
  const text = readFileSync(join(SKILLS, name, 'manifest.yaml'), 'utf8');
  const needs = Manifest.parse(parse(text)).depends.map((need) => need.split('@')[0] ?? need);
  return [...new Set([...needs.flatMap(withNeeds), name])];
}

async function proves(clone: Clone, label: string, skills: readonly string[]): Promise<boolean> {
  const start = performance.now();
  const { json } = await clone.claw('--yes', 'apply', ...skills);
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  const end = json.error === null ? 'proved' : `${json.error.code}: ${json.error.message}`;
  console.log(`${label}: ${end}, ${seconds} s`);
  for (const warning of json.warnings) console.log(`  ${warning.split('\n')[0]}`);
  return json.error === null;
}

async function main(args: readonly string[]): Promise<boolean> {
  const isTogether = args.length === 0 || args.includes('--together');
  const named = args.filter((arg) => !arg.startsWith('--'));
  const alone = args.length === 0 ? names : args.includes('--short') ? SHORT : named;
  let isOk = true;
  if (isTogether) {
    isOk = await inClone((clone) => proves(clone, `all ${names.length} in one command`, names));
  }
  if (alone.length === 0) return isOk;
  const areOk = await inClone(async (clone) => {
    let isEach = true;
    for (const name of alone) {
      const skills = withNeeds(name);
      isEach = (await proves(clone, skills.join(' '), skills)) && isEach;
      await clone.claw('--yes', 'remove', ...skills.toReversed());
    }
    return isEach;
  });
  return isOk && areOk;
}

/** Works in a clone of this repository, gone afterwards. */
async function inClone(work: (clone: Clone) => Promise<boolean>): Promise<boolean> {
  const clone = cloneRepository();
  try {
    return await work(clone);
  } finally {
    await clone[Symbol.asyncDispose]();
  }
}

const loops: readonly ChildProcess[] = Array.from({ length: LOOPS }, () =>
  spawn('timeout', [String(LOOP_SECONDS), 'sh', '-c', 'while :; do :; done'], { stdio: 'ignore' }),
);
try {
  process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1;
} finally {
  for (const loop of loops) loop.kill();
}
