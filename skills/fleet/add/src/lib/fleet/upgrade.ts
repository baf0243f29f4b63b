import { visible } from '@patchclaw/claw/text';
import { z } from 'zod';
import { type Activity, type Containers, jsonOfInstance } from './containers.ts';
import type { FleetBook, Instance, Upgrade, Version } from './fleet-book.ts';
import { newProblems, type Problems, problemsInVolume, problemsOf, publishedIn } from './health.ts';

const RELEASE = '/opt/patchclaw/release';
const TREE = '/instance/patchclaw';
const STATUS = ['status', '--json'];

/** The instances that are upgraded first, those that follow if all is well, and those that have the image already. */
export type UpgradePlan = {
  readonly canaries: readonly string[];
  readonly rest: readonly string[];
  readonly current: readonly string[];
};

/** Plans an upgrade. Instances that run go first, since a canary that nobody uses tells little. */
export function planUpgrade(
  instances: readonly Pick<Instance, 'name' | 'wish' | 'version'>[],
  image: string,
  { canary, only }: { readonly canary: number; readonly only: readonly string[] },
): UpgradePlan {
  const wanted = instances.filter(({ name }) => only.length === 0 || only.includes(name));
  const isCurrent = ({ version }: Pick<Instance, 'version'>) => version.image === image;
  const due = wanted
    .filter((one) => !isCurrent(one))
    .toSorted((one, other) => Number(other.wish === 'running') - Number(one.wish === 'running'))
    .map(({ name }) => name);
  const current = wanted.filter(isCurrent).map(({ name }) => name);
  return { canaries: due.slice(0, canary), rest: due.slice(canary), current };
}

/** The end of one instance's upgrade. `rolled-back` runs as before; `stays` runs the new version, and is not well. */
export type UpgradeEnd =
  | { readonly kind: 'upgraded' }
  | { readonly kind: 'rolled-back'; readonly reason: string }
  | { readonly kind: 'stays'; readonly reason: string };

export type UpgradeParts = {
  readonly book: FleetBook;
  readonly containers: Containers;
  readonly signal: AbortSignal;
  readonly progress: (text: string) => void;
  readonly now: () => number;
};

/**
 * Upgrades one instance on a copy of its volume, so that going back is to start the old one, which nobody has touched.
 *
 * The copy is tried without a network and with its channels off: it can answer nobody, and no tool of it acts. What the
 * trial did to data is thrown away with it: the copy then gets the data of the old volume once more. So the switch,
 * which is one line in the book, neither loses nor repeats anything.
 */
export async function upgradeInstance(
  parts: UpgradeParts,
  name: string,
  image: string,
): Promise<UpgradeEnd> {
  const { book, containers, signal, progress } = parts;
  const { wish, version: old, before } = book.instance(name);
  const known = await problemsNow(parts, name, wish === 'running' ? null : old);
  progress(`${name}: copying its volume`);
  await containers.remove(name);
  const next = { volume: book.newVolume(name), image };
  const trial = await tryOn(parts, { name, old, next, known }).catch(failed(signal));
  if (trial.kind === 'unfit') {
    await containers.remove(name);
    if (wish === 'running') await containers.start(name, old);
    await sweep(book, containers);
    return { kind: 'rolled-back', reason: trial.reason };
  }
  const discards = before === null ? [] : [before.volume];
  const unchecked = { name, published: trial.published, known: [...known.keys()] };
  const switched = wish === 'running' ? { kind: 'unchecked' as const, ...unchecked } : null;
  book.change(name, { version: next, before: old }, { discards, switched });
  if (switched === null) return { kind: 'upgraded' };
  progress(`${name}: starting the new version`);
  return await checkSwitched(parts, switched);
}

type Unfit = { readonly kind: 'unfit'; readonly reason: string };
type Trialled = Unfit | { readonly kind: 'fit'; readonly published: string };

const unfit = (reason: string): Unfit => ({ kind: 'unfit', reason });

/** Turns an error into a reason to stay as before; a Ctrl-C ends the upgrade. */
function failed(signal: AbortSignal): (error: unknown) => Unfit {
  return (error) => {
    if (signal.aborted) throw error;
    return unfit(error instanceof Error ? error.message : String(error));
  };
}

type Switched = NonNullable<Upgrade['switched']>;

/**
 * Starts the new version of an instance that has been switched, if it does not run yet, and takes it back if it is not
 * well. It begins anew after a kill: the book holds `switched` until the end is known.
 */
export async function checkSwitched(parts: UpgradeParts, switched: Switched): Promise<UpgradeEnd> {
  const { book, containers, signal } = parts;
  const { name } = switched;
  if (switched.kind === 'unwell') return await goBack(parts, name, switched.reason);
  const { version } = book.instance(name);
  const look = await containers.look(name);
  const known = new Map(switched.known.map((area) => [area, '']));
  const check = async () => {
    if (look?.isRunning !== true || look.volume !== version.volume || look.isAlone) {
      await containers.start(name, version);
    }
    return await troubleOf(parts, name, known, switched.published);
  };
  const trouble = await check().catch((error: unknown) => failed(signal)(error).reason);
  if (trouble !== null) return await goBack(parts, name, trouble);
  book.change(name, {}, { switched: null });
  return { kind: 'upgraded' };
}

/** Data and groups as the old volume has them, which nobody has written since. */
const TAKE_DATA = [
  `cd ${TREE}`,
  'rm -rf data groups',
  'cp -a /other/patchclaw/groups groups',
  'cp -a /other/patchclaw/data data',
].join('\n');

async function problemsNow(
  { containers }: UpgradeParts,
  name: string,
  stopped: Version | null,
): Promise<Problems> {
  return stopped === null
    ? await problemsOf(containers, name)
    : await problemsInVolume(containers, stopped);
}

type Trial = {
  readonly name: string;
  readonly old: Version;
  readonly next: Version;
  readonly known: Problems;
};

/** Makes the copy, merges the new release into it, starts it closed in, and gives it the data once more if it is fit. */
async function tryOn(parts: UpgradeParts, trial: Trial): Promise<Trialled> {
  const { containers, progress, now } = parts;
  const { name, old, next, known } = trial;
  await containers.makeVolume(next.volume);
  await containers.shell(next, 'cp -a /other/. /instance/', { other: old.volume });
  progress(`${name}: merging the new release with what its owner changed`);
  const refused = await mergeRelease(parts, next);
  if (refused !== null) return unfit(refused);
  const published = publishedIn(await containers.runClaw(next, STATUS));
  const fence = JSON.stringify({ restoredAt: now(), backupFrom: now() });
  await containers.shell(next, `cat > ${TREE}/data/fenced.json`, { input: fence });
  progress(`${name}: trying it without a network and channels`);
  await containers.start(name, { ...next, isAlone: true });
  const trouble = await troubleOf(parts, name, new Map([...known, FENCED]), published);
  if (trouble !== null) return unfit(trouble);
  await containers.remove(name);
  await containers.shell(next, TAKE_DATA, { other: old.volume });
  return { kind: 'fit', published: publishedIn(await containers.runClaw(next, STATUS)) };
}

/** The mark that keeps the channels off is a problem for the doctor; it is thrown away with the rest of the trial. */
const FENCED = ['backups', 'its channels are off'] as const;

const UpdateResult = z.object({
  ok: z.boolean(),
  error: z.object({ message: z.string() }).nullable(),
  conflicts: z.array(z.object({ path: z.string() }).catch({ path: '?' })).max(10_000),
});

/** Returns why the release cannot be merged in this volume; null where it is. */
async function mergeRelease({ containers }: UpgradeParts, next: Version): Promise<string | null> {
  // The release's own tests have passed at its keeper's; those of this owner's skills have not met it yet.
  const words = ['update', RELEASE, '--yes', '--json', '--proof', 'skills'];
  const { stdout, stderr, code } = await containers.runClaw(next, words);
  const { data } = UpdateResult.safeParse(jsonOfInstance(stdout));
  if (data === undefined)
    return `claw update ended with exit code ${code}: ${visible(stderr.slice(-500))}`;
  if (data.ok) return null;
  const paths = visible(data.conflicts.map(({ path }) => path).join(', '));
  if (paths !== '') return `the release and its owner changed the same lines: ${paths}`;
  return data.error === null ? 'claw update did not do it' : visible(data.error.message);
}

/** Waits until an instance is up, and asks its doctor. Returns what is wrong; null for nothing new. */
async function troubleOf(
  { containers, signal }: UpgradeParts,
  name: string,
  known: Problems,
  published: string,
): Promise<string | null> {
  const notUp = await containers.untilUp(name, signal);
  if (notUp !== null) return notUp;
  // A supervisor whose assistant does not come up takes the update back by itself, and is well then.
  if (publishedIn(await containers.claw(name, STATUS)) !== published) {
    return 'the new version did not come up, and its supervisor took it back';
  }
  const problems = newProblems(known, await problemsOf(containers, name));
  return problems.length === 0 ? null : problems.join(' ');
}

/**
 * Takes an upgrade back after the switch. Not if the new version has taken or done something since: the old volume does
 * not know of it, so a message that arrived would be lost, and a turn that was answered would be answered again.
 */
async function goBack(parts: UpgradeParts, name: string, reason: string): Promise<UpgradeEnd> {
  const { book, containers } = parts;
  const { version: next, before: old } = book.instance(name);
  if (old === null) return { kind: 'stays', reason };
  book.change(name, {}, { switched: { kind: 'unwell', name, reason: reason.slice(0, 5_000) } });
  await containers.remove(name);
  // Both by the program of the new image: another one might count differently.
  const then = await containers.activityIn({ ...old, image: next.image });
  const now = await containers.activityIn(next).catch(() => null);
  const done = now === null ? null : doneSince(then, now);
  if (done !== null) {
    await containers.start(name, next);
    book.change(name, {}, { switched: null });
    return { kind: 'stays', reason: `${reason} (not rolled back: ${done})` };
  }
  book.change(
    name,
    { version: old, before: null },
    { discards: now === null ? [] : [next.volume], switched: null },
  );
  await containers.start(name, old);
  await sweep(book, containers);
  if (now !== null) return { kind: 'rolled-back', reason };
  // Nobody can tell whether something came in: it is there for whoever can repair it.
  const kept = `its messages cannot be read, so its volume stays: ${next.volume}`;
  return { kind: 'rolled-back', reason: `${reason} (${kept})` };
}

/** Returns what an instance has done between two looks, in words; null for nothing. */
export function doneSince(then: Activity, now: Activity): string | null {
  if (now.messages !== then.messages) return `${now.messages - then.messages} messages came since`;
  if (now.turns !== then.turns) return `${now.turns - then.turns} turns began since`;
  const still = new Set(now.waiting);
  return then.waiting.every((one) => still.has(one)) ? null : 'it went on with what waited';
}

/** Looks again at an instance that was upgraded, and takes it back where it is not well any more. */
export async function lookAgain(parts: UpgradeParts, name: string): Promise<UpgradeEnd> {
  const { containers, book } = parts;
  if (book.instance(name).wish !== 'running') return { kind: 'upgraded' };
  const look = await containers.look(name);
  if (look?.isRunning === true && look.restarts === 0) {
    const trouble = await containers.untilUp(name, parts.signal, 30_000);
    if (trouble === null) return { kind: 'upgraded' };
  }
  return await goBack(parts, name, 'it ended after a while');
}

/** Removes volumes and images that nothing needs. A volume that is still used is removed the next time. */
export async function sweep(book: FleetBook, containers: Containers): Promise<void> {
  const now = book.read();
  const used = now.instances.flatMap(({ version, before }) =>
    before === null ? [version] : [version, before],
  );
  const stuck: string[] = [];
  for (const volume of now.discarded) {
    if (used.some((one) => one.volume === volume)) continue;
    if (!(await containers.removeVolume(volume))) stuck.push(volume);
  }
  book.write({ ...now, discarded: stuck });
  const images = used.map(({ image }) => image);
  // An upgrade that goes on, or can, does not make its image again.
  await containers.removeImagesBut(new Set([...images, now.upgrade?.image ?? '']));
}
