import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';

/** Remembers on which composition of the code the assistant last came up. */
export interface LastHealthy {
  /** Tells whether a transaction has published another composition since: only that can be rolled back. */
  isPublishedSince(): boolean;
  /**
   * Notes that the present tree is healthy. Never throws: on a full disk, this process remembers it alone.
   */
  record(): void;
}

const File = z.object({ composition: z.string() });

/**
 * Remembers the composition that was last healthy. Every transaction rewrites `.claw/state.yaml`, so its
 * digest names the composition.
 */
export function lastHealthyOf(projectDir: string, dataDir: string): LastHealthy {
  const path = join(dataDir, 'last-healthy.json');
  let unwritten: string | null = null;
  return {
    isPublishedSince() {
      const known = unwritten ?? readKnown(path);
      return known !== null && known !== compositionOf(projectDir);
    },
    record() {
      const composition = compositionOf(projectDir);
      unwritten = null;
      if (composition === readKnown(path)) return;
      try {
        write(path, composition);
      } catch {
        unwritten = composition;
      }
    },
  };
}

/** Writes all or nothing: a torn file would say that nothing can be rolled back. */
function write(path: string, composition: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(`${path}.new`, `${JSON.stringify({ composition })}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

function compositionOf(projectDir: string): string {
  try {
    const state = readFileSync(join(projectDir, '.claw/state.yaml'));
    return createHash('sha256').update(state).digest('hex');
  } catch {
    return 'core'; // No state: nothing was ever applied.
  }
}

function readKnown(path: string): string | null {
  try {
    return File.parse(JSON.parse(readFileSync(path, 'utf8'))).composition;
  } catch {
    return null; // Absent or torn: nothing is known to have worked, so nothing is rolled back.
  }
}
