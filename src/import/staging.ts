import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  digestAt,
  type FileChange,
  importsFolder,
  type Place,
  stageBytes,
  stageCopy,
} from './file-journal.ts';
import type { SourceContent } from './imported-items.ts';
import type { Target } from './target.ts';

/** A file change with the number of its copies. */
export type StagedChange = FileChange & { readonly number: number };

/** New files, and copies of those that they replace, in a folder of their own until the import counts. */
export class Staging {
  readonly #target: Target;
  /** Below data/imports. */
  readonly folder: string;
  readonly #changes = new Map<string, StagedChange>();

  constructor(target: Target, folder: string) {
    this.#target = target;
    this.folder = folder;
  }

  /** Stages a file that is to be new, or to take the place of what is there. */
  add(place: Place, path: string, content: SourceContent): void {
    const number = this.#changes.get(`${place}:${path}`)?.number ?? this.#changes.size;
    const { roots } = this.#target;
    const before = this.#before(place, path, number);
    const staged = `${this.folder}/new/${number}`;
    const after =
      content.kind === 'bytes'
        ? stageBytes(roots.data, staged, content.bytes)
        : stageCopy(roots.data, staged, content.from);
    this.#changes.set(`${place}:${path}`, { place, path, before, after, staged, number });
  }

  /** Stages a text at the end of a file, which may be staged already. */
  append(place: Place, path: string, text: string): void {
    const before = this.#text(place, path);
    const gap = before === '' ? '' : before.endsWith('\n') ? '\n' : '\n\n';
    this.add(place, path, { kind: 'bytes', bytes: Buffer.from(`${before}${gap}${text}`) });
  }

  /** Returns the text of a file as it is staged, else as it is here. */
  #text(place: Place, path: string): string {
    const { roots } = this.#target;
    const staged = this.#changes.get(`${place}:${path}`)?.staged ?? null;
    if (staged !== null) return readFileSync(join(importsFolder(roots.data), staged), 'utf8');
    return digestAt(roots[place], path) === null
      ? ''
      : readFileSync(join(roots[place], path), 'utf8');
  }

  #before(place: Place, path: string, number: number): string | null {
    const known = this.#changes.get(`${place}:${path}`);
    if (known !== undefined) return known.before;
    const { roots } = this.#target;
    const digest = digestAt(roots[place], path);
    if (digest === 'blocked') throw new Error(`${path} is a link or a folder`);
    if (digest === null) return null;
    return stageCopy(roots.data, `${this.folder}/before/${number}`, join(roots[place], path));
  }

  /** All that is staged, in the order in which it takes its place: what switches a channel on is last. */
  changes(): readonly StagedChange[] {
    const isSwitch = ({ path }: FileChange) => Number(path === '.env' || path.endsWith('link.db'));
    return [...this.#changes.values()]
      .filter(({ before, after }) => before !== after)
      .sort((one, other) => isSwitch(one) - isSwitch(other));
  }

  /** Deletes the staged files; what was there before stays, to undo the import. */
  removeNew(): void {
    const folder = join(importsFolder(this.#target.roots.data), this.folder);
    rmSync(join(folder, 'new'), { recursive: true, force: true });
  }

  /** Deletes everything, where the import did not happen. */
  removeAll(): void {
    const folder = join(importsFolder(this.#target.roots.data), this.folder);
    rmSync(folder, { recursive: true, force: true });
  }
}
