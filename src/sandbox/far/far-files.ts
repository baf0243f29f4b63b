import { TIMED_OUT, withTimeout } from '../../lib/timeout.ts';
import type { FarFiles, SharedMount } from './chat-files.ts';
import type { ControlAnswers, ControlClient } from './control-channel.ts';
import { digestOf, type Tree, type TreeEntry } from './file-tree.ts';

/** An agent whose words do not show that it hands over is asked for its files after so long. */
const HANDOVER_MS = 1_000;
/** Contents that are under way to a machine. */
const UNDER_WAY_BYTES = 4_194_304;

/** The files there, as their worker tells: it answers with what is different since its last answer. */
export class FarFilesOfLink implements FarFiles {
  readonly #control: ControlClient;
  readonly #mounts: readonly SharedMount[];
  #trees = new Map<string, Map<string, TreeEntry>>();
  /** Contents that came with the last answer. */
  #shown = new Map<string, Buffer>();
  /** An answer that comes when the agent hands over. */
  #expected: Promise<void> | null = null;
  /** An answer was none, so nobody knows what is there; the worker keeps the files. */
  #problem: Error | null = null;

  constructor(control: ControlClient, mounts: readonly SharedMount[]) {
    this.#control = control;
    this.#mounts = mounts;
  }

  begin(trees: readonly { readonly target: string; readonly tree: Tree }[]): void {
    this.#trees = new Map(trees.map(({ target, tree }) => [target, new Map(tree)]));
  }

  /** The agent works from now on: asks for what it will have written when it hands over. */
  expectHandover(): void {
    this.#expected ??= this.#ask(true);
  }

  async look(): Promise<ReadonlyMap<string, Tree>> {
    const expected = this.#expected;
    this.#expected = null;
    const isAnswered =
      expected !== null && (await withTimeout(expected, HANDOVER_MS)) !== TIMED_OUT;
    if (!isAnswered) await this.#ask(false);
    if (this.#problem !== null) throw this.#problem;
    return this.known();
  }

  known(): ReadonlyMap<string, Tree> {
    return this.#trees;
  }

  async read(digest: string): Promise<Buffer | null> {
    const shown = this.#shown.get(digest);
    if (shown !== undefined) return shown;
    const { body, isThere } = await this.#control.ask({ op: 'read', digest });
    return isThere ? body : null;
  }

  async change(
    target: string,
    changes: readonly { path: string; expected: TreeEntry | null; wanted: TreeEntry | null }[],
    bytes: readonly (Buffer | null)[],
  ): Promise<readonly boolean[]> {
    if (changes.length === 0) return [];
    const sending = new Sending();
    for (const [index, { wanted }] of changes.entries()) {
      const own = bytes[index];
      if (wanted?.kind !== 'file' || !own) continue;
      const asked = this.#control.ask({ op: 'bytes', digest: wanted.digest }, own);
      await sending.add(own.length, asked);
    }
    const mount = this.#mounts.findIndex((one) => one.target === target);
    const made = this.#control
      .ask({ op: 'change', mount, changes: [...changes] })
      // Noted before an answer that comes after it.
      .then(({ done }) => {
        const tree = this.#trees.get(target);
        for (const [index, { path, wanted }] of changes.entries()) {
          if (done[index] !== true) continue;
          if (wanted === null) tree?.delete(path);
          else tree?.set(path, wanted);
        }
        return done;
      });
    const [done] = await Promise.all([made, sending.end()]);
    return done;
  }

  #ask(waits: boolean): Promise<void> {
    const asked = this.#control.ask({ op: 'look', waits }).then(
      (answer) => this.#note(answer),
      (error: unknown) => {
        this.#problem ??= error instanceof Error ? error : new Error(String(error));
      },
    );
    return asked;
  }

  #note({ changes, contents, body }: ControlAnswers['look'] & { readonly body: Buffer }): void {
    this.#shown = new Map();
    let at = 0;
    for (const sizeBytes of contents) {
      const bytes = body.subarray(at, at + sizeBytes);
      this.#shown.set(digestOf(bytes), bytes);
      at += sizeBytes;
    }
    for (const [mount, path, entry] of changes) {
      const { target = '', isWritable = false } = this.#mounts[mount] ?? {};
      const tree = this.#trees.get(target);
      if (!isWritable || tree === undefined) continue;
      if (entry === null) tree.delete(path);
      else tree.set(path, entry);
    }
  }
}

/** Requests that are answered later; no more is under way than a link takes anyway. */
export class Sending {
  #underWay: Promise<unknown>[] = [];
  #bytes = 0;

  async add(sizeBytes: number, asked: Promise<unknown>): Promise<void> {
    // Whoever waits for the end is told of it.
    asked.catch(() => {});
    this.#underWay.push(asked);
    this.#bytes += sizeBytes;
    if (this.#bytes >= UNDER_WAY_BYTES) await this.end();
  }

  async end(): Promise<void> {
    await Promise.all(this.#underWay);
    this.#underWay = [];
    this.#bytes = 0;
  }
}
