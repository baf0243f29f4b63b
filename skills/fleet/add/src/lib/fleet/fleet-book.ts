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

/** An upgrade that has begun and has not come to its end: what is needed to go on after a kill. */
const Upgrade = z.object({
  image: z.string().max(200),
  /** All instances that it was to bring to this image. */
  names: z.array(z.string().regex(INSTANCE_NAME)).max(1_000),
  /** The instance that has been switched, and whose new version is not known to be well. */
  switched: z
    .discriminatedUnion('kind', [
      z.object({
        kind: z.literal('unchecked'),
        name: z.string().regex(INSTANCE_NAME),
        /** The digest of its code after the merge. */
        published: z.string().max(200),
        /** What its doctor found before, by area. */
        known: z.array(z.string().max(200)).max(1_000),
      }),
      z.object({
        kind: z.literal('unwell'),
        name: z.string().regex(INSTANCE_NAME),
        reason: z.string().max(10_000),
      }),
    ])
    .nullable(),
});
export type Upgrade = z.output<typeof Upgrade>;

const Book = z.object({
  /** Tells two fleets on one machine apart. */
  id: z.string().regex(/^[0-9a-f]{6}$/),
  /** Numbers volumes; it only grows. */
  nextVolume: z.int(),
  instances: z.array(Instance).max(1_000),
  /** Volumes that nothing needs, to be removed. */
  discarded: z.array(z.string().max(100)).max(1_000),
  upgrade: Upgrade.nullable().default(null),
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
      return { id, nextVolume: 1, instances: [], discarded: [], upgrade: null };
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

  /** Changes one instance in the book and, in the same write, what an upgrade notes about it. */
  change(
    name: string,
    change: Partial<Instance>,
    {
      discards = [],
      switched,
    }: { readonly discards?: readonly string[]; readonly switched?: Upgrade['switched'] } = {},
  ): Instance {
    const book = this.read();
    const changed = { ...this.instance(name), ...change };
    this.write({
      ...book,
      instances: book.instances.map((one) => (one.name === name ? changed : one)),
      discarded: [...book.discarded, ...discards],
      upgrade:
        book.upgrade === null || switched === undefined
          ? book.upgrade
          : { ...book.upgrade, switched },
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
    return await this.#locked('lock.db', patienceMs, async (isHeld) => {
      if (isHeld) return await work();
      throw new FleetRefused('Another command works on the fleet. Wait until it has ended.');
    });
  }

  /**
   * Marks an upgrade as under way for as long as `work` takes. It watches for an hour, and wakes and stops go on meanwhile.
   *
   * @throws FleetRefused where another one is under way
   */
  async upgrading<T>(work: () => Promise<T>): Promise<T> {
    // Somebody who only looks whether an upgrade is under way holds it for a moment.
    return await this.#locked('upgrade.db', 5_000, async (isHeld) => {
      if (isHeld) return await work();
      throw new FleetRefused('Another upgrade is under way. Wait until it has ended.');
    });
  }

  /** Returns the upgrade that a kill or an accident ended; null where there is none, or it is still under way. */
  async interrupted(): Promise<Upgrade | null> {
    if (this.read().upgrade === null) return null;
    // Not alone: two that look at a time are no upgrade.
    const look = 'BEGIN; SELECT count(*) FROM sqlite_master';
    return await this.#locked(
      'upgrade.db',
      0,
      (isHeld) => (isHeld ? this.read().upgrade : null),
      look,
    );
  }

  /** Does something with a lock, or without it if somebody else holds it for all of the time. */
  async #locked<T>(
    file: string,
    patienceMs: number,
    work: (isHeld: boolean) => T | Promise<T>,
    statement = 'BEGIN EXCLUSIVE',
  ): Promise<T> {
    mkdirSync(this.dir, { recursive: true, mode: 0o700 });
    const database = new Database(join(this.dir, file));
    try {
      database.pragma('busy_timeout = 0');
      return await work(await isTaken(database, statement, Date.now() + patienceMs));
    } finally {
      database.close();
    }
  }
}

async function isTaken(
  database: Database.Database,
  statement: string,
  until: number,
): Promise<boolean> {
  for (;;) {
    try {
      database.exec(statement);
      return true;
    } catch (error) {
      const isBusy = error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY');
      if (!isBusy) throw error;
      if (Date.now() >= until) return false;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
