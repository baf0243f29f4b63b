import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';

/** Remembers on which composition of the code the assistant last came up. */
export interface LastHealthy {
  /** Tells whether a transaction has published this composition since: only that can be rolled back. */
  isPublishedSince(composition: string): boolean;
  /** How long the slowest start of the last healthy composition took, in milliseconds; 0 if that is not known. */
  startMs(): number;
  /**
   * Notes that this composition is healthy, `startMs` milliseconds after its process was started (0 if it was not
   * started). Never throws: on a full disk, this process remembers it alone.
   */
  record(composition: string, startMs: number): void;
}

type HealthyStart = { readonly composition: string; readonly startMs: number };

// Files of earlier releases have no time.
const HealthyFile = z.object({
  composition: z.string(),
  startMs: z.number().nonnegative().catch(0),
});

/** Remembers the composition that was last healthy, by its name of `compositionOf`. */
export function lastHealthyOf(dataDir: string): LastHealthy {
  const path = join(dataDir, 'last-healthy.json');
  let unwritten: HealthyStart | null = null;
  const known = (): HealthyStart | null => unwritten ?? readKnown(path);
  return {
    isPublishedSince(composition) {
      const last = known();
      return last !== null && last.composition !== composition;
    },
    startMs: () => known()?.startMs ?? 0,
    record(composition, startMs) {
      const last = readKnown(path);
      unwritten = null;
      if (composition === last?.composition && startMs <= last.startMs) return;
      // A tree that was taken back starts as the one before it did.
      const next = { composition, startMs: startMs === 0 ? (last?.startMs ?? 0) : startMs };
      try {
        write(path, next);
      } catch {
        unwritten = next;
      }
    },
  };
}

/** Writes all or nothing: a torn file would say that nothing can be rolled back. */
function write(path: string, known: HealthyStart): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(`${path}.new`, `${JSON.stringify(known)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

function readKnown(path: string): HealthyStart | null {
  try {
    return HealthyFile.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return null; // Absent or torn: nothing is known to have worked, so nothing is rolled back.
  }
}
