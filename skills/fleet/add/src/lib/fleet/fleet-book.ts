import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { z } from 'zod';

/** A name becomes part of the names of containers, volumes and addresses. */
export const INSTANCE_NAME = /^[a-z][a-z0-9-]{0,30}$/;

/** A volume, and the image that the instance in it runs on: they only fit together. */
const Version = z.object({ volume: z.string().max(100), image: z.string().max(200) });
export type Version = z.output<typeof Version>;

const Instance = z.object({
  name: z.string().regex(INSTANCE_NAME),
  /** What its keeper wants: `asleep` is woken by a message or a task, `stopped` only by its keeper. */
  wish: z.enum(['running', 'asleep', 'stopped']),
  version: Version,
  /** The version before the last upgrade, untouched since: the backup of that upgrade. */
  before: Version.nullable(),
  /** Stopped after so many minutes without anything to do; null keeps it up. */
  idleMinutes: z.int().min(1).max(10_080).nullable(),
  /** When its next task is due, while it is asleep. */
  wakesAt: z.number().nullable(),
});
export type Instance = z.output<typeof Instance>;

const Book = z.object({
  /** Tells two fleets on one machine apart. */
  id: z.string().regex(/^[0-9a-f]{6}$/),
  /** Numbers volumes; it only grows. */
  nextVolume: z.int(),
  instances: z.array(Instance).max(1_000),
  /** Volumes that nothing needs, to be removed. */
  discarded: z.array(z.string().max(100)).max(1_000),
});
export type Book = z.output<typeof Book>;

/** A refusal of the fleet, as a sentence that says what to do next. */
export class FleetRefused extends Error {
  override readonly name = 'FleetRefused';
}

/** The instances of this keeper, in `data/fleet/fleet.json`. Only who holds the lock may write it. */
export class FleetBook {
  readonly dir: string;
  readonly #path: string;

  constructor(dataDir: string) {
    this.dir = join(dataDir, 'fleet');
    this.#path = join(this.dir, 'fleet.json');
  }

  get isThere(): boolean {
    return existsSync(this.#path);
  }

  read(): Book {
    if (!this.isThere) {
      const id = randomBytes(3).toString('hex');
      return { id, nextVolume: 1, instances: [], discarded: [] };
    }
    return Book.parse(JSON.parse(readFileSync(this.#path, 'utf8')));
  }

  /** Writes the book whole; a kill leaves the old one. */
  write(book: Book): void {
    mkdirSync(this.dir, { recursive: true, mode: 0o700 });
    writeFileSync(`${this.#path}.new`, `${JSON.stringify(Book.parse(book), null, 2)}\n`, {
      mode: 0o600,
      flush: true,
    });
    renameSync(`${this.#path}.new`, this.#path);
  }

  /** Returns an instance by its name. @throws FleetRefused where there is none */
  instance(name: string): Instance {
    const found = this.read().instances.find((one) => one.name === name);
    if (found === undefined) {
      throw new FleetRefused(`No instance is called ${name}. See: npx claw fleet list`);
    }
    return found;
  }

  /** Changes one instance in the book. */
  change(name: string, change: Partial<Instance>, discards: readonly string[] = []): Instance {
    const book = this.read();
    const changed = { ...this.instance(name), ...change };
    this.write({
      ...book,
      instances: book.instances.map((one) => (one.name === name ? changed : one)),
      discarded: [...book.discarded, ...discards],
    });
    return changed;
  }

  /** Returns the name of a volume that never was, noted as one to be removed until an instance has it. */
  newVolume(name: string): string {
    const book = this.read();
    const volume = `claw-${book.id}-${name}-${book.nextVolume}`;
    const discarded = [...book.discarded, volume];
    this.write({ ...book, nextVolume: book.nextVolume + 1, discarded });
    return volume;
  }

  /**
   * Does something while no other command or service of this fleet changes anything. The kernel releases the lock when
   * its holder is killed.
   *
   * @throws FleetRefused where somebody else works on the fleet for all of `patienceMs`
   */
  async exclusively<T>(patienceMs: number, work: () => Promise<T>): Promise<T> {
    mkdirSync(this.dir, { recursive: true, mode: 0o700 });
    const database = new Database(join(this.dir, 'lock.db'));
    try {
      await lock(database, Date.now() + patienceMs);
      return await work();
    } finally {
      database.close();
    }
  }
}

async function lock(database: Database.Database, until: number): Promise<void> {
  database.pragma('busy_timeout = 0');
  for (;;) {
    try {
      database.exec('BEGIN EXCLUSIVE');
      return;
    } catch (error) {
      if (!(error instanceof Database.SqliteError) || !error.code.startsWith('SQLITE_BUSY')) {
        throw error;
      }
      if (Date.now() >= until) {
        throw new FleetRefused('Another command works on the fleet. Wait until it has ended.');
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
