import { z } from 'zod';
import type { Digest } from '../digest.ts';
import { readCache, writeCache } from '../installed/cache-file.ts';

const MAX_KEYS = 2000;
const PASSED = 'proof-passed';
const KEPT = 'proof-kept';

const Keys = z.array(z.string());
const Kept = z.record(z.string(), z.string());

/** Results of earlier proofs of a project, which later ones need not repeat. */
export type ProofMemory = {
  readonly hasPassed: (key: Digest) => boolean;
  readonly addPassed: (keys: readonly Digest[]) => void;
  /** Returns the file that a check left at this path of an earlier view, or null. */
  readonly readKept: (path: string) => Buffer | null;
  readonly writeKept: (files: ReadonlyMap<string, Buffer>) => void;
};

/** Opens the memory in `.claw/cache/`. Losing any of it only costs time. */
export function openMemory(root: string): ProofMemory {
  const passed = () => Keys.safeParse(readCache(root, PASSED)).data ?? [];
  const known = new Set(passed());
  let kept: Readonly<Record<string, string>> | null = null;
  const readAll = () => {
    kept ??= Kept.safeParse(readCache(root, KEPT)).data ?? {};
    return kept;
  };
  return {
    hasPassed: (key) => known.has(key),
    addPassed: (keys) => {
      if (keys.length === 0) return;
      for (const key of keys) known.add(key);
      const all = new Set([...passed().filter((key) => !keys.some((one) => one === key)), ...keys]);
      writeCache(root, PASSED, [...all].slice(-MAX_KEYS));
    },
    readKept: (path) => {
      const text = readAll()[path];
      return text === undefined ? null : Buffer.from(text, 'base64');
    },
    writeKept: (files) => {
      if (files.size === 0) return;
      const encoded = [...files].map(([path, bytes]) => [path, bytes.toString('base64')] as const);
      kept = { ...readAll(), ...Object.fromEntries(encoded) };
      writeCache(root, KEPT, kept);
    },
  };
}
