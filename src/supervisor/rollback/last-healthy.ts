import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';

/** Remembers on which composition of the code the assistant last came up. */
export interface LastHealthy {
  /** Tells whether a transaction has published this composition since: only that can be rolled back. */
  isPublishedSince(composition: string): boolean;
  /**
   * Notes that this composition is healthy. Never throws: on a full disk, this process remembers it alone.
   */
  record(composition: string): void;
}

const File = z.object({ composition: z.string() });

/** Remembers the composition that was last healthy, by its name of `compositionOf`. */
export function lastHealthyOf(dataDir: string): LastHealthy {
  const path = join(dataDir, 'last-healthy.json');
  let unwritten: string | null = null;
  return {
    isPublishedSince(composition) {
      const known = unwritten ?? readKnown(path);
      return known !== null && known !== composition;
    },
    record(composition) {
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

function readKnown(path: string): string | null {
  try {
    return File.parse(JSON.parse(readFileSync(path, 'utf8'))).composition;
  } catch {
    return null; // Absent or torn: nothing is known to have worked, so nothing is rolled back.
  }
}
