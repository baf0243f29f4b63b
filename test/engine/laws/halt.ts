import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

// Everything that the engine changes a disk with. All of it is synchronous, or npm's.
const CALLS = [
  'appendFileSync',
  'chmodSync',
  'copyFileSync',
  'cpSync',
  'fsyncSync',
  'linkSync',
  'mkdirSync',
  'mkdtempSync',
  'openSync',
  'renameSync',
  'rmSync',
  'rmdirSync',
  'symlinkSync',
  'truncateSync',
  'unlinkSync',
  'utimesSync',
  'writeFileSync',
  'writeSync',
] as const;

export type Watch = {
  /** Calls so far that another run of the same verb makes as well; what caches hold differs. */
  readonly count: () => number;
  readonly isHalted: () => boolean;
  /** Lets calls through again. */
  readonly end: () => void;
};

/**
 * Ends at the n-th call from now on that changes files below a folder, just before it happens; a
 * write of a file may get half way. What is left on the disk is what a kill at that call leaves.
 *
 * @param nth counted from 1; null counts and ends nowhere
 * @param onHalt called there; calls that come after it throw, whatever it did
 */
export function haltAt(root: string, nth: number | null, onHalt: () => void): Watch {
  const originals = new Map<string, Change>();
  for (const name of CALLS) originals.set(name, changeOf(name));
  const real = CALLS.map((name) => [name, Reflect.get(fs, name)] as const);
  let count = 0;
  let cached = 0;
  let isHalted = false;
  for (const [name, original] of originals) {
    const watched = (...args: readonly unknown[]) => {
      if (!isChange(root, name, args)) return original(...args);
      if (!isHalted) {
        count += 1;
        if (placeOf(String(args[0])).includes('/.claw/cache/')) cached += 1;
        if (count !== nth) return original(...args);
        isHalted = true;
        if (name === 'writeFileSync' && count % 2 === 0) writeHalf(original, args);
        onHalt();
      }
      // The kernel drops the lock of a dead process; here closing it must not be kept from happening.
      if (name === 'rmSync' && String(args[0]).endsWith('/holder.json')) return undefined;
      throw new Error(`killed before ${name}(${String(args[0])})`);
    };
    Reflect.set(fs, name, watched);
  }
  syncBuiltinESMExports();
  return {
    count: () => count - cached,
    isHalted: () => isHalted,
    end: () => {
      for (const [name, original] of real) Reflect.set(fs, name, original);
      syncBuiltinESMExports();
    },
  };
}

type Change = (...args: readonly unknown[]) => unknown;

function changeOf(name: (typeof CALLS)[number]): Change {
  const call: unknown = Reflect.get(fs, name);
  return (...args) => (typeof call === 'function' ? Reflect.apply(call, fs, args) : undefined);
}

function isChange(root: string, name: string, [target, flags]: readonly unknown[]): boolean {
  if (name === 'openSync' && (flags === undefined || flags === 'r' || typeof flags === 'number')) {
    return false;
  }
  if (typeof target === 'number') return target > 2;
  return placeOf(String(target)).startsWith(root);
}

/** Returns the path that a name by a descriptor leads to. */
function placeOf(path: string): string {
  const [folder] = /^\/proc\/self\/fd\/\d+/.exec(path) ?? [];
  return folder === undefined ? path : fs.readlinkSync(folder) + path.slice(folder.length);
}

function writeHalf(write: Change, args: readonly unknown[]): void {
  const [target, data, ...rest] = args;
  const bytes = Buffer.from(typeof data === 'string' || Buffer.isBuffer(data) ? data : '');
  write(target, bytes.subarray(0, bytes.length / 2), ...rest);
}
