import type { Manifest } from '../skill/manifest.ts';
import type { SkillPackage } from '../skill/package.ts';
import { readSealed, writeSealed } from '../state/sealed-cache.ts';

const CACHE = 'manifests';

/**
 * The checked manifests of packages by their digests, from the last command: the same bytes were read
 * and checked then, and would be found the same again.
 */
export class KnownManifests {
  readonly #root: string;
  readonly #known: Readonly<Record<string, Manifest>>;
  readonly #used = new Map<string, Manifest>();
  #isChanged = false;

  constructor(root: string) {
    this.#root = root;
    this.#known = (readSealed(root, CACHE) ?? {}) as Readonly<Record<string, Manifest>>;
  }

  find({ kind, digest }: Pick<SkillPackage, 'kind' | 'digest'>): Manifest | null {
    return this.#known[`${kind} ${digest}`] ?? null;
  }

  /** Keeps a manifest for the next command. */
  keep({ kind, digest, manifest }: SkillPackage): void {
    const key = `${kind} ${digest}`;
    this.#used.set(key, manifest);
    if (this.#known[key] === undefined) this.#isChanged = true;
  }

  save(): void {
    const count = Object.keys(this.#known).length;
    // What a command leaves out comes back with the next one: only what piles up is dropped.
    if (!this.#isChanged && count <= 2 * this.#used.size) return;
    const fresh = count > 2 * this.#used.size ? {} : this.#known;
    writeSealed(this.#root, CACHE, { ...fresh, ...Object.fromEntries(this.#used) });
  }
}
