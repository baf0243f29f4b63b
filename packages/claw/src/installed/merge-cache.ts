import {
  type FileMerge,
  isSameFile,
  mergeFiles,
  type TreeFile,
  type Versions,
} from '@patchclaw/merge';
import { digestFile } from '../digest.ts';
import { readCache, writeCache } from './cache-file.ts';

const CACHE = 'merges';
/** Limit of all kept texts together. Texts that the last command did not use are removed first. */
const MAX_BYTES = 16 * 1024 * 1024;

/** A clean result: its bytes as latin1, and its mode. */
type CleanMerge = readonly [text: string, isExecutable: boolean];

/**
 * Merges that an earlier command made, found again by the digests of their three versions. Only clean
 * ones are kept: a conflict is worth another look.
 */
export class MergeCache {
  readonly #root: string;
  readonly #known: Readonly<Record<string, CleanMerge>>;
  readonly #used = new Map<string, CleanMerge>();
  readonly #digests = new WeakMap<TreeFile, string>();
  #isChanged = false;

  constructor(root: string) {
    this.#root = root;
    this.#known = (readCache(root, CACHE) ?? {}) as Readonly<Record<string, CleanMerge>>;
  }

  readonly merge: typeof mergeFiles = (versions, options = {}) => {
    const key = this.#keyOf(versions, options.path ?? '');
    if (key === null) return mergeFiles(versions, options);
    const known = this.#known[key] ?? this.#used.get(key);
    if (known !== undefined) {
      this.#used.set(key, known);
      const [text, isExecutable] = known;
      return { kind: 'clean', file: { bytes: Buffer.from(text, 'latin1'), isExecutable } };
    }
    const merged = mergeFiles(versions, options);
    this.#keep(key, merged);
    return merged;
  };

  /** Keeps the merges for the next command. */
  save(): void {
    if (!this.#isChanged) return;
    const used = [...this.#used];
    const others = Object.entries(this.#known).filter(([key]) => !this.#used.has(key));
    let room = MAX_BYTES;
    const kept = [...used, ...others].filter(([, [text]]) => {
      room -= text.length;
      return room >= 0;
    });
    writeCache(this.#root, CACHE, Object.fromEntries(kept));
  }

  /**
   * Returns the key of a merge; null where equal sides already tell the result. The path counts, because its
   * language affects the merge.
   */
  #keyOf({ base, ours, theirs }: Versions<TreeFile | null>, path: string): string | null {
    if (base === null || ours === null || theirs === null) return null;
    if (isSameFile(base, ours) || isSameFile(base, theirs) || isSameFile(ours, theirs)) return null;
    return [base, ours, theirs].map((file) => this.#digestOf(file)).join(' ') + path;
  }

  #digestOf(file: TreeFile): string {
    const known = this.#digests.get(file);
    if (known !== undefined) return known;
    const digest = digestFile(file);
    this.#digests.set(file, digest);
    return digest;
  }

  #keep(key: string, merged: FileMerge): void {
    if (merged.kind === 'conflict' || merged.file === null) return;
    this.#used.set(key, [merged.file.bytes.toString('latin1'), merged.file.isExecutable]);
    this.#isChanged = true;
  }
}
