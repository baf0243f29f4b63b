import { readFileSync, statSync } from 'node:fs';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Tree, TreeFile } from '@patchclaw/merge';
import type { ReadEntry } from 'tar';
import { ClawError } from '../../errors.ts';
import { checkPath } from '../checks/paths.ts';
import { checkSize, type IrregularEntry } from '../package-from-files.ts';
import type { FetchedPackage } from './sources.ts';

// A package's 64 MiB, and the headers of its files and folders.
const MAX_UNPACKED_BYTES = 80 * 1024 * 1024;
const GZIP = Buffer.from([0x1f, 0x8b]);
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/**
 * Unpacks a tarball in memory: nothing is written anywhere. The package is at its top, or in a single top
 * folder, as `npm pack` and code hosts make it.
 *
 * @param file absolute; plain or gzipped
 * @throws ClawError LIMIT_EXCEEDED as soon as more comes out than a package may hold; PATH_UNSAFE,
 *   PATH_COLLISION; SOURCE_FAILED for what is not a tarball
 */
export async function readTarball(file: string): Promise<FetchedPackage> {
  const archive = await decompress(file);
  const { Parser } = await import('tar');
  const contents = new Contents();
  // The parser would decompress once more, past every limit.
  const isNested = [GZIP, ZSTD].some((magic) => archive.indexOf(magic) === 0);
  if (isNested) throw unreadable(file, 'it is compressed twice, or not with gzip');
  try {
    const parser = new Parser({ strict: true, onReadEntry: (entry) => contents.take(entry) });
    parser.on('ignoredEntry', (entry: ReadEntry) => contents.take(entry));
    // Without a listener for errors they are thrown right here.
    parser.write(archive);
    parser.end();
  } catch (cause) {
    if (cause instanceof ClawError) throw cause;
    throw unreadable(file, cause instanceof Error ? cause.message : String(cause), cause);
  }
  return contents.fetched();
}

async function decompress(file: string): Promise<Buffer> {
  try {
    checkUnpacked(statSync(file).size);
    const bytes = readFileSync(file);
    if (bytes.indexOf(GZIP) !== 0) return bytes;
    return await promisify(gunzip)(bytes, { maxOutputLength: MAX_UNPACKED_BYTES });
  } catch (cause) {
    if (cause instanceof ClawError) throw cause;
    const code = cause instanceof Error && 'code' in cause ? cause.code : null;
    if (code === 'ERR_BUFFER_TOO_LARGE') checkUnpacked(MAX_UNPACKED_BYTES + 1);
    throw unreadable(file, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

function checkUnpacked(bytes: number): void {
  if (bytes > MAX_UNPACKED_BYTES) checkSize({ files: 0, bytes });
}

/** The entries that came out of an archive so far. */
class Contents {
  readonly #files = new Map<string, TreeFile>();
  readonly #irregular: IrregularEntry[] = [];
  #entries = 0;
  #bytes = 0;

  take(entry: ReadEntry): void {
    const path = entry.path.replace(/^(\.\/+)+/, '').replace(/\/+$/, '');
    this.#entries += 1;
    this.#bytes += entry.size;
    checkSize({ files: Math.ceil(this.#entries / 2), bytes: this.#bytes });
    if (path === '' || path === '.' || entry.meta) {
      entry.resume();
      return;
    }
    // A path that leads out of the package must not pass for its top folder.
    if (/^\/|(^|\/)\.{1,2}(\/|$)|\/\//.test(path)) checkPath(path);
    switch (entry.type) {
      case 'File':
      case 'OldFile':
      case 'ContiguousFile':
        this.#takeFile(path, entry);
        return;
      case 'Directory':
        break;
      default:
        this.#irregular.push({ path, kind: /Link$/.test(entry.type) ? 'link' : 'special' });
    }
    entry.resume();
  }

  fetched(): FetchedPackage {
    const top = this.#topFolder();
    const below = (path: string) => path.slice(top.length);
    const files: Tree = new Map([...this.#files].map(([path, file]) => [below(path), file]));
    const irregular = this.#irregular.map(({ path, kind }) => ({ path: below(path), kind }));
    return { files, irregular, commit: null };
  }

  #takeFile(path: string, entry: ReadEntry): void {
    if (this.#files.has(path)) {
      const message = `${path} is in the tarball twice. Pack it again.`;
      throw new ClawError('PATH_COLLISION', message, { path });
    }
    const isExecutable = ((entry.mode ?? 0) & 0o100) !== 0;
    const chunks: Buffer[] = [];
    this.#files.set(path, { bytes: Buffer.alloc(0), isExecutable });
    entry.on('data', (chunk) => chunks.push(chunk));
    entry.on('end', () => this.#files.set(path, { bytes: Buffer.concat(chunks), isExecutable }));
  }

  /** Returns the top folder with its slash; empty where the package is at the top. */
  #topFolder(): string {
    const paths = [...this.#files.keys(), ...this.#irregular.map(({ path }) => path)];
    const top = /^[^/]+\//.exec(paths[0] ?? '')?.[0] ?? '';
    return paths.every((path) => path.startsWith(top)) ? top : '';
  }
}

function unreadable(file: string, reason: string, cause?: unknown): ClawError {
  return new ClawError('SOURCE_FAILED', `${file} cannot be read as a tarball: ${reason}.`, {
    path: file,
    cause,
  });
}
