import { satisfies } from 'semver';
import { z } from 'zod';

const Entry = z.looseObject({
  version: z.string().optional(),
  resolved: z.union([z.string(), z.boolean()]).optional(),
  integrity: z.string().optional(),
  link: z.boolean().optional(),
  optional: z.boolean().optional(),
});
type Entry = z.output<typeof Entry>;
const Lock = z.object({ packages: z.record(z.string(), Entry) });
const Ranges = z.record(z.string(), z.string()).default({});
const Manifest = z.object({
  dependencies: Ranges,
  devDependencies: Ranges,
  optionalDependencies: Ranges,
  peerDependencies: Ranges,
});

/**
 * Tells whether a lock seems to have all packages that a `package.json` wants, and no others: then it is
 * worth asking npm for the lock alone.
 */
export function seemsServed(packageJson: Buffer, lock: Buffer): boolean {
  const wanted = read(Manifest, packageJson);
  const locked = read(Lock, lock)?.packages;
  const former = Manifest.safeParse(locked?.['']).data;
  if (wanted === null || locked === undefined || former === undefined) return false;
  const ranges = rangesOf(wanted);
  const before = rangesOf(former);
  return (
    [...before.keys()].every((name) => ranges.has(name)) &&
    [...ranges].every(([name, range]) => {
      const version = locked[`node_modules/${name}`]?.version;
      return before.get(name) === range || (version !== undefined && satisfies(version, range));
    })
  );
}

/**
 * Tells whether what is installed is what a lock says, package for package.
 *
 * @param known `installed` is npm's own note, `node_modules/.package-lock.json`; `former` is the lock
 *   that it was installed by: what it left out as optional, for another system, may stay out
 */
export function isInstalled(
  lock: Buffer,
  known: {
    readonly installed: Buffer;
    readonly former: Buffer;
    readonly isThere: (place: string) => boolean;
  },
): boolean {
  const [wanted, there, before] = [lock, known.installed, known.former].map(
    (one) => read(Lock, one)?.packages,
  );
  if (wanted === undefined || there === undefined || before === undefined) return false;
  const isWanted = Object.keys(there).every((place) => place === '' || wanted[place] !== undefined);
  return (
    isWanted &&
    Object.entries(wanted).every(([place, entry]) => {
      if (place === '') return true;
      const own = there[place];
      if (own !== undefined) return isSamePackage(own, entry) && known.isThere(place);
      const out = before[place];
      return out?.optional === true && entry.optional === true && isSamePackage(out, entry);
    })
  );
}

/** Tells whether they are the same bytes. A linked package is a folder, which may have changed. */
function isSamePackage(one: Entry, other: Entry): boolean {
  const isLinked = one.link === true || other.link === true;
  return (
    !isLinked &&
    one.version === other.version &&
    one.resolved === other.resolved &&
    one.integrity === other.integrity
  );
}

function rangesOf(manifest: z.output<typeof Manifest>): ReadonlyMap<string, string> {
  const { dependencies, devDependencies, optionalDependencies, peerDependencies } = manifest;
  const all = { ...peerDependencies, ...devDependencies, ...optionalDependencies, ...dependencies };
  return new Map(Object.entries(all));
}

function read<T>(schema: z.ZodType<T>, bytes: Buffer): T | null {
  try {
    return schema.safeParse(JSON.parse(bytes.toString('utf8'))).data ?? null;
  } catch {
    return null; // No JSON: npm has the better message.
  }
}
