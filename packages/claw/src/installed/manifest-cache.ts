import type { Manifest } from '../package/manifest/manifest.ts';
import type { SkillPackage } from '../package/package.ts';
import { readCache, writeCache } from './cache-file.ts';

const CACHE = 'manifests';

/** The findings about a package: its checked manifest, and the files that its digest covers. */
export type KnownPackage = { readonly manifest: Manifest; readonly paths: readonly string[] };

/**
 * Findings about packages by their digests, from earlier commands: the same bytes would give the same again.
 */
export class ManifestCache {
  readonly #root: string;
  readonly #known: Readonly<Record<string, KnownPackage>>;
  readonly #used = new Map<string, KnownPackage>();
  #isChanged = false;

  constructor(root: string) {
    this.#root = root;
    this.#known = (readCache(root, CACHE) ?? {}) as Readonly<Record<string, KnownPackage>>;
  }

  find({ kind, digest }: Pick<SkillPackage, 'kind' | 'digest'>): KnownPackage | null {
    return this.#known[`${kind} ${digest}`] ?? null;
  }

  /** Keeps what a package is for the next command. */
  keep({ kind, digest, manifest, files }: SkillPackage): void {
    const key = `${kind} ${digest}`;
    this.#used.set(key, { manifest, paths: [...files.keys()] });
    if (this.#known[key] === undefined) this.#isChanged = true;
  }

  save(): void {
    const count = Object.keys(this.#known).length;
    // A manifest that one command leaves out may be used by the next: only what piles up is dropped.
    if (!this.#isChanged && count <= 2 * this.#used.size) return;
    const fresh = count > 2 * this.#used.size ? {} : this.#known;
    writeCache(this.#root, CACHE, { ...fresh, ...Object.fromEntries(this.#used) });
  }
}
