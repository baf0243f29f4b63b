import { hash, randomUUID } from 'node:crypto';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

const MAX_BYTES = 2 * 1024 ** 3;
const MEMORY_BYTES = 64 * 1024 ** 2;

/** Contents of files by their digests, kept for the next proofs. Those used last are in memory: a core is in each job. */
export class ContentFolder {
  readonly #dir: string;
  readonly #memory = new Map<string, Buffer>();
  #memoryBytes = 0;

  /** Removes the oldest where they take more than 2 GB. */
  constructor(dir: string) {
    this.#dir = dir;
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const files = readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        const { size, mtimeMs } = statSync(path);
        return { path, size, mtimeMs };
      })
      .sort((one, other) => other.mtimeMs - one.mtimeMs);
    let sizeBytes = 0;
    for (const { path, size } of files) {
      sizeBytes += size;
      if (sizeBytes > MAX_BYTES) rmSync(path, { force: true });
    }
  }

  /** Returns null for what is not there, or is not what it was. */
  read(digest: string): Buffer | null {
    const known = this.#memory.get(digest) ?? this.#readFile(digest);
    if (known !== null) this.#remember(digest, known);
    return known;
  }

  write(digest: string, content: Buffer): void {
    const path = this.#path(digest);
    mkdirSync(dirname(path), { recursive: true });
    const unfinished = `${path}.${randomUUID()}`;
    writeFileSync(unfinished, content, { mode: 0o600 });
    renameSync(unfinished, path);
    this.#remember(digest, content);
  }

  #readFile(digest: string): Buffer | null {
    try {
      const content = readFileSync(this.#path(digest));
      return `sha256:${hash('sha256', content, 'hex')}` === digest ? content : null;
    } catch {
      // It was never here, or was removed for its age.
      return null;
    }
  }

  #remember(digest: string, content: Buffer): void {
    if (!this.#memory.delete(digest)) this.#memoryBytes += content.length;
    this.#memory.set(digest, content);
    for (const [oldest, { length }] of this.#memory) {
      if (this.#memoryBytes <= MEMORY_BYTES) return;
      this.#memory.delete(oldest);
      this.#memoryBytes -= length;
    }
  }

  #path(digest: string): string {
    const hex = digest.replace('sha256:', '');
    return join(this.#dir, hex.slice(0, 2), hex);
  }
}
