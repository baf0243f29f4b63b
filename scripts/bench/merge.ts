/**
 * Measures a merge of one file, beside `git merge-file` and node-diff3.
 *
 *     npx node scripts/bench/merge.ts
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { diff3Merge } from 'node-diff3';
import { mergeText } from '../../packages/merge/src/merge-text.ts';
import type { Versions } from '../../packages/merge/src/versions.ts';
import { makeCorpus } from './merge-corpus.ts';

/** Times in milliseconds; `conflicts` counts files. */
type Measured = {
  readonly name: string;
  readonly conflicts: number;
  readonly p50: number;
  readonly p99: number;
};

/** The first engine is ours; the others are there to be compared with. */
export type MergeBench = { readonly files: number; readonly engines: readonly Measured[] };

/** Merges one file, `true` for a conflict. What `prepare` does is not timed. */
type Engine = {
  readonly name: string;
  readonly prepare?: (versions: Versions<string>) => void;
  readonly hasConflict: (versions: Versions<string>) => boolean;
};

/** Prints a measurement as a table; a ratio of 2 means twice our time. */
export function printMerge({ files, engines }: MergeBench): void {
  console.log(`merge: ${files} made-up files of 50 to 2,000 lines`);
  const [own] = engines;
  for (const { name, conflicts, p50, p99 } of engines) {
    const ratio = (time: number, ownTime = time) => `× ${(time / ownTime).toFixed(1)}`.padStart(8);
    console.log(
      `  ${name.padEnd(34)} ${String(conflicts).padStart(4)} conflicts` +
        `  p50 ${p50.toFixed(2).padStart(7)} ms ${ratio(p50, own?.p50)}` +
        `  p99 ${p99.toFixed(2).padStart(7)} ms ${ratio(p99, own?.p99)}`,
    );
  }
}

/** Measures all engines file by file, so that a busy machine slows all of them. */
export async function benchMerge(files = 300): Promise<MergeBench> {
  const folder = mkdtempSync(join(tmpdir(), 'claw-bench-merge-'));
  try {
    const corpus = makeCorpus(files);
    const engines = [own, gitIn(folder), nodeDiff3].map((engine) => {
      const times: number[] = [];
      return { engine, times, hit: 0 };
    });
    // The first pass warms the just-in-time compiler, as the files of any longer command would.
    for (const versions of corpus) own.hasConflict(versions);
    for (const versions of corpus) {
      for (const run of engines) {
        run.engine.prepare?.(versions);
        const start = performance.now();
        if (run.engine.hasConflict(versions)) run.hit++;
        run.times.push(performance.now() - start);
      }
    }
    const measured = engines.map(({ engine: { name }, times, hit }) => {
      return { name, conflicts: hit, p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
    });
    return { files, engines: measured };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const own: Engine = {
  name: 'mergeText',
  hasConflict: (versions) => mergeText(versions).conflicts > 0,
};

const nodeDiff3: Engine = {
  name: 'node-diff3',
  hasConflict: ({ base, ours, theirs }) => {
    const [o, b, t] = [ours, base, theirs].map((text) => text.split('\n'));
    const regions = diff3Merge(o ?? [], b ?? [], t ?? [], { excludeFalseConflicts: true });
    return regions.some(({ conflict }) => conflict !== undefined);
  },
};

function gitIn(folder: string): Engine {
  return {
    name: 'git merge-file, with process start',
    prepare: (versions) => {
      for (const [name, text] of Object.entries(versions)) writeFileSync(join(folder, name), text);
    },
    hasConflict: () => {
      const args = ['merge-file', '-p', 'ours', 'base', 'theirs'];
      const { status } = spawnSync('git', args, { cwd: folder });
      if (status === null || status > 127) throw new Error('git merge-file failed');
      return status > 0;
    },
  };
}

function percentile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

if (import.meta.main) printMerge(await benchMerge());
