import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { visible } from '@patchclaw/claw/text';
import { z } from 'zod';
import { Containers, jsonOfInstance } from './containers.ts';
import {
  type FleetBook,
  FleetRefused,
  INSTANCE_NAME,
  type Instance,
  type Upgrade,
} from './fleet-book.ts';
import { makeImage } from './image.ts';
import {
  checkSwitched,
  lookAgain,
  planUpgrade,
  sweep,
  type UpgradeEnd,
  type UpgradePlan,
  upgradeInstance,
} from './upgrade.ts';

const TREE = '/instance/patchclaw';

export type FleetParts = {
  readonly book: FleetBook;
  readonly memory: string;
  readonly projectDir: string;
  readonly now: () => number;
  readonly signal: AbortSignal;
  readonly progress: (text: string) => void;
  /** Waits while the first of an upgrade are watched. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
};

/** An instance as `claw fleet list` shows it. */
export type InstanceLook = Instance & {
  readonly container: string;
  readonly isUp: boolean;
  /** How large its volume is, as Docker writes it; null where that is not known. */
  readonly size: string | null;
};

/** The instances of this keeper, each a container with a volume. Who changes anything holds the lock of the book. */
export class Fleet {
  readonly #parts: FleetParts;
  readonly #book: FleetBook;
  readonly containers: Containers;

  constructor(parts: FleetParts) {
    this.#parts = parts;
    this.#book = parts.book;
    const book = parts.book.read();
    // The id of a fleet that begins is kept before anything is named after it.
    if (!parts.book.isThere) parts.book.write(book);
    this.containers = new Containers(book.id, parts.memory);
  }

  /** Makes an instance of the code here, and starts it. `environment` becomes its `.env`. */
  async add(
    name: string,
    {
      environment,
      idleMinutes,
    }: { readonly environment: string; readonly idleMinutes: number | null },
  ): Promise<Instance> {
    if (!INSTANCE_NAME.test(name)) {
      throw new FleetRefused('A name has small letters, digits and hyphens, 31 at most.');
    }
    const { instances } = this.#book.read();
    if (instances.some((one) => one.name === name)) {
      throw new FleetRefused(`There is an instance ${name} already.`);
    }
    const image = await this.#image();
    const version = { volume: this.#book.newVolume(name), image };
    await this.containers.makeVolume(version.volume);
    this.#parts.progress(`${name}: copying the release into its volume`);
    await this.containers.runClaw(version, ['status', '--json']);
    await this.containers.shell(version, `umask 077; cat > ${TREE}/.env`, { input: environment });
    const instance: Instance = {
      ...{ name, version, idleMinutes, wish: 'running', before: null, wakesAt: null },
    };
    const book = this.#book.read();
    this.#book.write({ ...book, instances: [...book.instances, instance] });
    return await this.wake(name);
  }

  async list(): Promise<readonly InstanceLook[]> {
    const { instances } = this.#book.read();
    const sizes = instances.length === 0 ? new Map() : await this.containers.sizes();
    const looks = instances.map(async (instance) => {
      const look = await this.containers.look(instance.name);
      const container = this.containers.nameOf(instance.name);
      const size = sizes.get(instance.version.volume) ?? null;
      return { ...instance, container, isUp: look?.isRunning === true, size };
    });
    return await Promise.all(looks);
  }

  /** Starts an instance, and waits until it answers. */
  async wake(name: string): Promise<Instance> {
    const { version } = this.#book.instance(name);
    const instance = this.#book.change(name, { wish: 'running', wakesAt: null });
    const look = await this.containers.look(name);
    if (look?.isRunning !== true || look.volume !== version.volume || look.isAlone) {
      this.#parts.progress(`${name}: starting`);
      await this.containers.start(name, version);
    }
    const trouble = await this.containers.untilUp(name, this.#parts.signal);
    if (trouble !== null) throw new FleetRefused(`${name} does not answer: ${trouble}`);
    return instance;
  }

  /** Stops an instance: until a message or a task comes, or until its keeper wakes it. */
  async stop(name: string, wish: 'asleep' | 'stopped'): Promise<Instance> {
    const look = wish === 'asleep' ? await this.containers.look(name) : null;
    const next = look?.isRunning === true ? await this.containers.activity(name) : null;
    const instance = this.#book.change(name, { wish, wakesAt: next?.nextTaskAt ?? null });
    await this.containers.remove(name);
    return instance;
  }

  /**
   * Upgrades some instances to the code that is here now; the others only if all of the first are well. It takes the
   * lock of the book itself, and leaves it to others while it watches.
   *
   * @returns the end of each that was tried, and the names of those that were left alone
   */
  async upgrade(options: {
    readonly only: readonly string[];
    readonly canary: number;
    readonly watchMs: number;
    readonly patienceMs: number;
  }): Promise<UpgradeReport> {
    const { patienceMs, watchMs } = options;
    const ends = new Map<string, UpgradeEnd>();
    const exclusively = async <T>(work: () => Promise<T>): Promise<T> =>
      await this.#book.exclusively(patienceMs, async () => {
        try {
          return await work();
        } catch (error) {
          // Ctrl-C: nobody is left without an instance until the next command.
          if (this.#parts.signal.aborted) await this.#bringBack();
          throw error;
        }
      });
    return await this.#book.upgrading(async () => {
      const { image, plan } = await exclusively(async () => await this.#begin(options));
      const { canaries, rest, current } = plan;
      await exclusively(async () => await this.#upgradeAll(canaries, image, ends));
      if (areWell(ends) && watchMs > 0 && ends.size > 0) {
        this.#parts.progress(`Watching ${canaries.join(', ')}`);
        await (this.#parts.pause ?? pause)(watchMs, this.#parts.signal);
        await exclusively(async () => {
          for (const name of this.#present(canaries)) {
            ends.set(name, await lookAgain(this.#upgradeParts, name));
          }
        });
      }
      await exclusively(async () => {
        await this.#upgradeAll(rest, image, ends);
        this.#book.write({ ...this.#book.read(), upgrade: null });
        await sweep(this.#book, this.containers);
      });
      const left = [...canaries, ...rest].filter((name) => !ends.has(name));
      return { image, ends: Object.fromEntries(ends), left, current };
    });
  }

  async #begin(options: {
    readonly only: readonly string[];
    readonly canary: number;
  }): Promise<{ readonly image: string; readonly plan: UpgradePlan }> {
    for (const name of options.only) this.#book.instance(name);
    const image = await this.#image();
    const book = this.#book.read();
    const plan = planUpgrade(book.instances, image, options);
    const names = [...plan.canaries, ...plan.rest];
    this.#book.write({ ...book, upgrade: { image, names, switched: null } });
    return { image, plan };
  }

  async #upgradeAll(
    names: readonly string[],
    image: string,
    ends: Map<string, UpgradeEnd>,
  ): Promise<void> {
    for (const name of this.#present(names)) {
      if (areWell(ends)) ends.set(name, await upgradeInstance(this.#upgradeParts, name, image));
    }
  }

  /** Those that nobody has taken out of the fleet meanwhile. */
  #present(names: readonly string[]): readonly string[] {
    const { instances } = this.#book.read();
    return names.filter((name) => instances.some((one) => one.name === name));
  }

  get #upgradeParts() {
    return { ...this.#parts, containers: this.containers };
  }

  /** Saves an instance by its own `claw backup`, and copies the file to this machine. Returns its path here. */
  async backup(name: string): Promise<string> {
    const { wish, version } = this.#book.instance(name);
    const words = ['backup', '--json'];
    const { stdout, stderr } =
      wish === 'running'
        ? await this.containers.claw(name, words)
        : await this.containers.runClaw(version, words);
    const made = Backup.safeParse(jsonOfInstance(stdout));
    if (!made.success)
      throw new FleetRefused(`${name} cannot be saved: ${visible(stderr.slice(-500))}`);
    const { file } = made.data.data;
    const folder = join(this.#book.dir, 'backups', name);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const to = join(folder, basename(file));
    await this.containers.copyOut(version, file, to);
    return to;
  }

  /** Takes an instance out of the fleet. Its volume stays unless it is to go as well. Returns its volumes. */
  async remove(name: string, { withData }: { readonly withData: boolean }): Promise<string[]> {
    const { version, before } = this.#book.instance(name);
    const volumes = [version.volume, ...(before === null ? [] : [before.volume])];
    await this.containers.remove(name);
    const book = this.#book.read();
    const instances = book.instances.filter((one) => one.name !== name);
    const discarded = [...book.discarded, ...(withData ? volumes : [])];
    // An upgrade of nobody keeps no image.
    const isOfSomebody = instances.some((one) => book.upgrade?.names.includes(one.name));
    const upgrade = isOfSomebody ? book.upgrade : null;
    this.#book.write({ ...book, instances, discarded, upgrade });
    await sweep(this.#book, this.containers);
    if (instances.length === 0) await this.containers.removeNetwork();
    return volumes;
  }

  /**
   * Brings the containers to what the book says, after a command that was killed. An instance that was switched, and not
   * found well yet, is checked now, and taken back if it is not.
   *
   * @returns what was interrupted, and how to go on; null for nothing
   */
  async settle(): Promise<string | null> {
    const upgrade = await this.#book.interrupted();
    await this.containers.removeSteps();
    const { switched = null } = upgrade ?? {};
    const isThere = switched !== null && this.#present([switched.name]).length > 0;
    await this.#bringBack(isThere ? switched.name : null);
    const end = isThere ? await checkSwitched(this.#upgradeParts, switched) : null;
    await sweep(this.#book, this.containers);
    return upgrade === null ? null : this.#interruption(upgrade, switched, end);
  }

  async #bringBack(except: string | null = null): Promise<void> {
    for (const { name, wish, version } of this.#book.read().instances) {
      if (name === except) continue;
      const look = await this.containers.look(name);
      const isRight = look?.isRunning === true && look.volume === version.volume && !look.isAlone;
      if (wish !== 'running' && look !== null) await this.containers.remove(name);
      if (wish === 'running' && !isRight) await this.containers.start(name, version);
    }
  }

  /** Says how far an upgrade came that was interrupted; it is forgotten once nothing of it is left to do. */
  #interruption(
    { image, names }: Upgrade,
    switched: Upgrade['switched'],
    end: UpgradeEnd | null,
  ): string | null {
    const book = this.#book.read();
    const isNew = ({ version }: Instance) => version.image === image;
    const list = (some: readonly Instance[]) => some.map(({ name }) => name).join(', ') || 'none';
    const left = book.instances.filter((one) => names.includes(one.name) && !isNew(one));
    if (left.length === 0) this.#book.write({ ...book, upgrade: null });
    const isWell = end === null || end.kind === 'upgraded';
    if (left.length === 0 && switched === null) return null;
    return [
      `An upgrade was interrupted. On the new version: ${list(book.instances.filter(isNew))}.`,
      `On the one from before: ${list(left)}.`,
      ...(isWell || switched === null ? [] : [endText(switched.name, end)]),
      ...(left.length === 0 ? [] : ['Go on with: npx claw fleet upgrade']),
    ].join(' ');
  }

  async #image(): Promise<string> {
    const { projectDir, progress } = this.#parts;
    const fleetId = this.#book.read().id;
    return await makeImage({ projectDir, fleetId, workDir: this.#book.dir, progress });
  }
}

/** A plain path in the volume: its owner says it, and `cat` is given it. */
const Backup = z.object({
  data: z.object({ file: z.string().regex(/^\/instance(\/[\w@+-][\w.@+-]*)+$/) }),
});

export type UpgradeReport = {
  readonly image: string;
  readonly ends: Readonly<Record<string, UpgradeEnd>>;
  /** Not tried, since one before them was not well. */
  readonly left: readonly string[];
  /** They have this image already. */
  readonly current: readonly string[];
};

const areWell = (ends: ReadonlyMap<string, UpgradeEnd>): boolean =>
  [...ends.values()].every(({ kind }) => kind === 'upgraded');

/** Says how the upgrade of an instance ended that is not well. */
export function endText(name: string, end: UpgradeEnd): string {
  if (end.kind === 'rolled-back') return `${name} was rolled back: ${end.reason}.`;
  return `${name} runs the new version and is not well: ${'reason' in end ? end.reason : ''}.`;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal.addEventListener('abort', () => resolve(), { once: true });
  await promise;
  clearTimeout(timer);
  signal.throwIfAborted();
}
