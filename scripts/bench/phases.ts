import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { profileClaw } from './timed-run.ts';

/** Milliseconds by what a command spent them on, the most first. */
export type Phases = readonly (readonly [name: string, ms: number])[];

type Frame = { readonly functionName: string; readonly url: string };
type Profile = {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: Frame;
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
};

/** Runs a command once under Node's profiler. Its starts, before the first line of ours, are not in it. */
export function phasesOf(root: string, args: readonly string[]): Phases {
  const dir = mkdtempSync(join(tmpdir(), 'claw-bench-profile-'));
  try {
    profileClaw(root, args, dir);
    const spent = new Map<string, number>();
    for (const name of readdirSync(dir))
      addUp(JSON.parse(readFileSync(join(dir, name), 'utf8')), spent);
    return [...spent].sort(([, one], [, other]) => other - one);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function addUp({ nodes, samples, timeDeltas }: Profile, spent: Map<string, number>): void {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const phases = new Map<number, string>();
  const visit = (id: number, above: string): void => {
    const node = byId.get(id);
    if (node === undefined) return;
    const phase = above === 'loading' ? above : (phaseOf(node.callFrame) ?? above);
    phases.set(id, phase);
    for (const child of node.children ?? []) visit(child, phase);
  };
  if (nodes[0] !== undefined) visit(nodes[0].id, 'other');
  for (const [index, id] of samples.entries()) {
    const phase = phases.get(id) ?? 'other';
    spent.set(phase, (spent.get(phase) ?? 0) + (timeDeltas[index] ?? 0) / 1000);
  }
}

/** Returns null for a frame that belongs to the work of its caller. */
function phaseOf({ functionName, url }: Frame): string | null {
  if (functionName === '(idle)') return 'waiting';
  if (functionName === '(garbage collector)') return 'garbage';
  if (functionName.startsWith('fsync')) return 'fsync';
  if (url.startsWith('node:internal/modules/')) return 'loading';
  if (/^node:internal\/crypto\//.test(url)) return 'hashing';
  if (url === 'node:child_process') return 'processes';
  if (/^node:(?:internal\/)?fs/.test(url)) return 'files';
  if (url.includes('/node_modules/')) return /node_modules\/([^/]+)/.exec(url)?.[1] ?? null;
  return /\/src\/(engine\/[\w-]+|cli)/.exec(url)?.[1] ?? null;
}
