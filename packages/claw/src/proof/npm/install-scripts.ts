import { z } from 'zod';

/** A package that has something to run when it is installed. */
export type ScriptedPackage = { readonly name: string; readonly version: string };

const PackageLock = z.object({
  packages: z
    .record(
      z.string(),
      z.object({ version: z.string().optional(), hasInstallScript: z.boolean().optional() }),
    )
    .default({}),
});

/**
 * Returns the packages that one lock has and the other does not, or in another version. npm writes the same format
 * into `package-lock.json` and, for the packages that are really installed, into `node_modules/.package-lock.json`.
 *
 * @param before null for nothing yet
 */
export function newPackages(
  lock: Buffer,
  before: Buffer | null,
): readonly (ScriptedPackage & { readonly hasScript: boolean })[] {
  const known = before === null ? {} : parse(before);
  return Object.entries(parse(lock))
    .filter(([place]) => place !== '')
    .filter(([place, { version }]) => !known[place] || known[place].version !== version)
    .map(([place, { version = '', hasInstallScript = false }]) => ({
      name: place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version,
      hasScript: hasInstallScript,
    }));
}

const Approvals = z.object({ allowScripts: z.record(z.string(), z.boolean()).default({}) });

/** Reads the approvals of install scripts from a `package.json`: true lets them run, false refuses them. */
export function scriptApprovals(packageJson: Buffer): ReadonlyMap<string, boolean> {
  const { allowScripts } = Approvals.parse(JSON.parse(packageJson.toString('utf8')));
  return new Map(
    Object.entries(allowScripts).map(([name, isApproved]) => [
      name.replace(/(?<=.)@.*$/, ''),
      isApproved,
    ]),
  );
}

function parse(lock: Buffer) {
  return PackageLock.parse(JSON.parse(lock.toString('utf8'))).packages;
}
