// The tar inside a backup: plain files, `backup.json` first and `SHA256SUMS` last, so that `tar x` and `sha256sum -c` prove
// it without Patchclaw. What is around the tar is in packed-stream.ts.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Header, Pax } from 'tar';
import {
  type ArchivedFile,
  BackupError,
  BackupFacts,
  FACTS_ENTRY,
  FORMAT,
  isSafePath,
  SUMS_ENTRY,
} from './archive-format.ts';
import {
  type BackupKeys,
  type BackupLock,
  notABackup,
  packingLayers,
  spoiled,
  unpacked,
} from './packed-stream.ts';

/** Bounds of what is read from an archive. */
export type ArchiveLimits = { readonly maxEntries: number; readonly maxBytes: number };

/** A file or a text on its way into an archive. */
export type ArchiveItem = {
  readonly path: string;
  readonly sizeBytes: number;
  readonly isExecutable: boolean;
  /** Must yield exactly `sizeBytes` bytes. */
  read(): AsyncIterable<Uint8Array>;
};

const BLOCK = 512;
const MOST_FACTS_BYTES = 1024 * 1024;

/**
 * Writes an archive to a new file, in one pass.
 *
 * @returns the digest of each file that was written, and the SHA-256 of the whole
 * @throws BackupError BAD_RECIPIENT; the file system's error
 */
export async function writeArchive(
  path: string,
  options: {
    readonly facts: BackupFacts;
    readonly items: AsyncIterable<ArchiveItem>;
    readonly lock: BackupLock;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<{ readonly files: readonly ArchivedFile[]; readonly sha256: string }> {
  const { facts, items, lock, signal } = options;
  const files: ArchivedFile[] = [];
  const written = createHash('sha256');
  const layers = await packingLayers(lock);
  await pipeline(
    Readable.from(tarOf(facts, items, files), { objectMode: false }),
    ...layers,
    async function* digested(source: AsyncIterable<Uint8Array>) {
      for await (const chunk of source) {
        written.update(chunk);
        yield chunk;
      }
    },
    createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }),
    { signal },
  );
  return { files, sha256: written.digest('hex') };
}

async function* tarOf(
  facts: BackupFacts,
  items: AsyncIterable<ArchiveItem>,
  files: ArchivedFile[],
): AsyncGenerator<Uint8Array> {
  const factsText = Buffer.from(`${JSON.stringify(facts, null, 2)}\n`);
  yield* entry(textItem(FACTS_ENTRY, factsText), facts.createdAt);
  const sums = [{ path: FACTS_ENTRY, sha256: sha256(factsText) }];
  for await (const item of items) {
    const hash = createHash('sha256');
    yield* entry(item, facts.createdAt, hash);
    const { path, sizeBytes, isExecutable } = item;
    const file = { path, sizeBytes, isExecutable, sha256: hash.digest('hex') };
    files.push(file);
    sums.push(file);
  }
  yield* entry(textItem(SUMS_ENTRY, Buffer.from(sums.map(sumLine).join(''))), facts.createdAt);
  yield Buffer.alloc(2 * BLOCK);
}

function textItem(path: string, bytes: Buffer): ArchiveItem {
  return {
    path,
    sizeBytes: bytes.length,
    isExecutable: false,
    async *read() {
      yield bytes;
    },
  };
}

async function* entry(
  { path, sizeBytes, isExecutable, read }: ArchiveItem,
  createdAt: number,
  hash = createHash('sha256'),
): AsyncGenerator<Uint8Array> {
  const facts = {
    path,
    size: sizeBytes,
    mode: isExecutable ? 0o700 : 0o600,
    mtime: new Date(Math.floor(createdAt / 1000) * 1000),
    type: 'File' as const,
  };
  const header = new Header(facts);
  header.encode();
  if (header.needPax) yield new Pax({ path, size: sizeBytes }).encode();
  if (header.block !== undefined) yield header.block;
  let bytes = 0;
  for await (const chunk of read()) {
    hash.update(chunk);
    bytes += chunk.length;
    yield chunk;
  }
  if (bytes !== sizeBytes) throw new Error(`${path} changed its size while it was read`);
  if (bytes % BLOCK !== 0) yield Buffer.alloc(BLOCK - (bytes % BLOCK));
}

/** An archive that is being read: its facts, then its files in their order. */
export type OpenArchive = {
  readonly facts: BackupFacts;
  /**
   * Yields each file; its bytes are to be read before the next one is asked for. All is proved only when the last one was
   * asked for: a spoiled archive throws at some point before the end.
   */
  files(): AsyncGenerator<{
    readonly path: string;
    readonly sizeBytes: number;
    readonly isExecutable: boolean;
    readonly bytes: AsyncIterable<Uint8Array>;
  }>;
  /** The files with their digests, once `files` has come to its end. */
  readonly proved: () => readonly ArchivedFile[];
  close(): void;
};

/**
 * Opens an archive and reads its facts.
 *
 * @throws BackupError NOT_A_BACKUP, KEY_NEEDED, WRONG_KEY, SPOILED, NEWER_FORMAT
 */
export async function openArchive(
  path: string,
  keys: BackupKeys,
  limits: ArchiveLimits,
): Promise<OpenArchive> {
  const file = createReadStream(path, { highWaterMark: 256 * 1024 });
  const tar = new TarReader(unpacked(file, keys), limits);
  const close = (): void => void file.destroy();
  try {
    return { ...(await readArchive(tar)), close };
  } catch (error) {
    close();
    throw inWords(error);
  }
}

async function readArchive(tar: TarReader): Promise<Omit<OpenArchive, 'close'>> {
  const first = await tar.next();
  if (first === null || first.path !== FACTS_ENTRY || first.sizeBytes > MOST_FACTS_BYTES) {
    throw notABackup();
  }
  const factsText = await tar.readAll(first.sizeBytes);
  const facts = factsOf(factsText.toString());
  const sums = new Map([[FACTS_ENTRY, sha256(factsText)]]);
  const found: ArchivedFile[] = [];
  let isProved = false;

  async function* files() {
    try {
      for (;;) {
        const head = await tar.next();
        if (head === null) throw spoiled();
        const { path, sizeBytes, isExecutable } = head;
        if (path === SUMS_ENTRY) break;
        if (!isSafePath(path) || sums.has(path)) throw hostile(path);
        const hash = createHash('sha256');
        yield { ...head, bytes: tar.body(sizeBytes, hash) };
        await tar.skipRest(hash);
        const digest = hash.digest('hex');
        sums.set(path, digest);
        found.push({ path, sizeBytes, isExecutable, sha256: digest });
      }
      await compareSums(tar, sums);
      if ((await tar.next()) !== null) throw spoiled();
      await tar.end();
      isProved = true;
    } catch (error) {
      throw inWords(error);
    }
  }

  return {
    facts,
    files,
    proved() {
      if (!isProved) throw new Error('The archive was not read to its end.');
      return found;
    },
  };
}

function factsOf(text: string): BackupFacts {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new BackupError('NOT_A_BACKUP', 'The file is not a backup of Patchclaw.', { cause });
  }
  const format = Object(json)['format'];
  if (typeof format === 'number' && format > FORMAT) {
    throw new BackupError(
      'NEWER_FORMAT',
      `The backup was made by a newer version (format ${format}). Update Patchclaw first: npx claw update`,
    );
  }
  const { data } = BackupFacts.safeParse(json);
  if (data === undefined) throw notABackup();
  return data;
}

/** Compares the sums line by line, so that a hostile list of them takes no memory. */
async function compareSums(tar: TarReader, sums: ReadonlyMap<string, string>): Promise<void> {
  const expected = createHash('sha256');
  for (const [path, digest] of sums) expected.update(sumLine({ path, sha256: digest }));
  const actual = createHash('sha256');
  await tar.skipRest(actual);
  if (expected.digest('hex') !== actual.digest('hex')) throw spoiled();
}

/** Returns the line of `sha256sum`, which escapes line feeds and backslashes. */
function sumLine({ path, sha256: digest }: { readonly path: string; readonly sha256: string }) {
  if (!/[\\\n\r]/.test(path)) return `${digest}  ${path}\n`;
  const escaped = path.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r');
  return `\\${digest}  ${escaped}\n`;
}

/** Reads tar as `writeArchive` writes it, and refuses everything else that the format knows. */
class TarReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #limits: ArchiveLimits;
  #buffered: Buffer = Buffer.alloc(0);
  #entries = 0;
  #bytes = 0;
  /** Bytes of the entry that were not read yet, and the padding behind it. */
  #left = 0;
  #padding = 0;

  constructor(source: AsyncIterable<Uint8Array>, limits: ArchiveLimits) {
    this.#chunks = source[Symbol.asyncIterator]();
    this.#limits = limits;
  }

  /** Returns the head of the next entry; null at the end of the archive. */
  async next() {
    await this.#endEntry();
    let block = await this.#exactly(BLOCK);
    if (block.every((byte) => byte === 0)) {
      block = await this.#exactly(BLOCK);
      if (block.some((byte) => byte !== 0)) throw spoiled();
      return null;
    }
    let header = new Header(block);
    let extended: Pax | undefined;
    if (header.cksumValid && header.type === 'ExtendedHeader') {
      const size = header.size ?? 0;
      if (size > 64 * 1024) throw hostile('an entry with a very long name');
      this.#begin(size);
      extended = Pax.parse((await this.readAll(size)).toString(), undefined, false);
      await this.#endEntry();
      header = new Header(await this.#exactly(BLOCK));
    }
    const path = extended?.path ?? header.path ?? '';
    const sizeBytes = extended?.size ?? header.size ?? -1;
    if (!header.cksumValid) throw spoiled();
    if (header.type !== 'File') throw hostile(path, `is a ${header.type}`);
    if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0) throw hostile(path);
    this.#entries += 1;
    this.#bytes += sizeBytes;
    const { maxEntries, maxBytes } = this.#limits;
    if (this.#entries > maxEntries) {
      throw new BackupError(
        'NOT_A_BACKUP',
        `The archive has more than ${maxEntries} files. It was not unpacked.`,
      );
    }
    if (this.#bytes > maxBytes) {
      throw new BackupError(
        'NO_ROOM',
        `The archive unpacks to more than ${Math.floor(maxBytes / 1e6)} MB, and there is no room for it.`,
      );
    }
    this.#begin(sizeBytes);
    return { path, sizeBytes, isExecutable: ((header.mode ?? 0) & 0o100) !== 0 };
  }

  #begin(size: number): void {
    this.#left = size;
    this.#padding = (BLOCK - (size % BLOCK)) % BLOCK;
  }

  async readAll(size: number): Promise<Buffer> {
    const bytes = await this.#exactly(size);
    this.#left -= size;
    return bytes;
  }

  async *body(size: number, hash: ReturnType<typeof createHash>): AsyncGenerator<Uint8Array> {
    if (size !== this.#left) throw new Error('The entry was read before.');
    while (this.#left > 0) {
      const chunk = await this.#some(this.#left);
      this.#left -= chunk.length;
      hash.update(chunk);
      yield chunk;
    }
  }

  async skipRest(hash: ReturnType<typeof createHash>): Promise<void> {
    for await (const _ of this.body(this.#left, hash)) {
      // Only its digest is wanted.
    }
  }

  /** Reads what is behind the archive, which is nothing; then all layers below have been checked. */
  async end(): Promise<void> {
    if (this.#buffered.length > 0 || (await this.#chunks.next()).done !== true) throw spoiled();
  }

  async #endEntry(): Promise<void> {
    await this.skipRest(createHash('sha256'));
    const padding = await this.#exactly(this.#padding);
    this.#padding = 0;
    if (padding.some((byte) => byte !== 0)) throw spoiled();
  }

  async #exactly(size: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    let missing = size;
    while (missing > 0) {
      const part = await this.#some(missing);
      parts.push(part);
      missing -= part.length;
    }
    return Buffer.concat(parts);
  }

  async #some(most: number): Promise<Buffer> {
    while (this.#buffered.length === 0) {
      const { value, done } = await this.#chunks.next();
      if (done === true) throw spoiled();
      this.#buffered = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    }
    const part = this.#buffered.subarray(0, most);
    this.#buffered = this.#buffered.subarray(part.length);
    return part;
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function hostile(
  path: string,
  what = 'has a name that leads elsewhere or comes twice',
): BackupError {
  const name = JSON.stringify(path.slice(0, 200));
  return new BackupError('NOT_A_BACKUP', `The archive was refused: ${name} ${what}.`);
}

/** Turns errors of zlib, tar and age about unreadable bytes into one message for the owner. */
function inWords(error: unknown): unknown {
  if (error instanceof BackupError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  // The file system's own errors name the file and the reason.
  return /^E[A-Z]+$/.test(code) ? error : spoiled(error);
}
