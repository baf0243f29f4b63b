import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';

/** The pages of a SQLite file, with what its write-ahead log says about them. Pages count from 1. */
export interface PageFile {
  /** Bytes of a page that hold content. */
  readonly usableBytes: number;
  readonly count: number;
  /** Returns a page; null where the file ends before it. */
  page(number: number): Buffer | null;
  close(): void;
}

const MAGIC = 'SQLite format 3\0';
const WAL_HEADER = 32;
const FRAME_HEADER = 24;
/** Every value that SQLite allows; most databases have the first. */
const PAGE_SIZES = [4096, 8192, 16_384, 1024, 2048, 32_768, 65_536, 512];
/** Pages that are looked at to find the page size of a file whose header is damaged. */
const SAMPLE = 64;

/** Opens a database file to read its pages. Nothing is written, and SQLite itself never sees the file. */
export function openPageFile(path: string): PageFile {
  const file = openSync(path, 'r');
  const log = existsSync(`${path}-wal`) ? openSync(`${path}-wal`, 'r') : null;
  const sizeBytes = fstatSync(file).size;
  const header = readAt(file, 0, 100);
  const hasHeader = header?.toString('latin1', 0, 16) === MAGIC;
  const pageSize =
    (hasHeader && header !== null ? pageSizeOf(header.readUInt16BE(16)) : null) ??
    (log === null ? null : pageSizeOf((readAt(log, 8, 4) ?? Buffer.alloc(4)).readUInt32BE(0))) ??
    guessPageSize(file, sizeBytes);
  const frames = log === null ? NO_FRAMES : readLog(log, pageSize);
  const reserved =
    hasHeader && header !== null && header.readUInt8(20) <= 64 ? header.readUInt8(20) : 0;
  return {
    usableBytes: pageSize - reserved,
    count: Math.max(Math.ceil(sizeBytes / pageSize), frames.count),
    page(number) {
      const offset = frames.offsets.get(number);
      if (offset !== undefined && log !== null) return readAt(log, offset, pageSize);
      return readAt(file, (number - 1) * pageSize, pageSize);
    },
    close() {
      closeSync(file);
      if (log !== null) closeSync(log);
    },
  };
}

function pageSizeOf(value: number): number | null {
  const size = value === 1 ? 65_536 : value;
  return PAGE_SIZES.includes(size) ? size : null;
}

/** Takes the page size at which most pages begin like pages. */
function guessPageSize(file: number, sizeBytes: number): number {
  const score = (size: number) => {
    const count = Math.min(SAMPLE, Math.floor(sizeBytes / size));
    const numbers = Array.from({ length: count }, (_, at) => at);
    const fitting = numbers.filter((at) => {
      const start = readAt(file, at * size, 12);
      if (start === null || ![2, 5, 10, 13].includes(start.readUInt8(0))) return false;
      const cells = start.readUInt16BE(3);
      return cells * 2 + 8 < size && start.readUInt16BE(5) <= size && start.readUInt8(7) <= 60;
    });
    return count === 0 ? 0 : fitting.length / count;
  };
  // Of equals the first wins: a smaller size also meets the pages of a larger one, but less often.
  return PAGE_SIZES.reduce((best, size) => (score(size) > score(best) ? size : best));
}

type Frames = { readonly offsets: ReadonlyMap<number, number>; readonly count: number };
const NO_FRAMES: Frames = { offsets: new Map(), count: 0 };

/**
 * Finds the newest committed version of each page in the log. A frame counts if its checksum follows from the one
 * that the frame before it carries, so a damaged frame does not take away those behind it.
 */
function readLog(log: number, pageSize: number): Frames {
  const header = readAt(log, 0, WAL_HEADER);
  if (header === null) return NO_FRAMES;
  const isLittleEndian = header.readUInt32BE(0) === 0x377f0682;
  const salts = header.subarray(16, 24);
  const offsets = new Map<number, number>();
  let pending: (readonly [number, number])[] = [];
  let count = 0;
  let sums: readonly [number, number] = [header.readUInt32BE(24), header.readUInt32BE(28)];
  for (let at = WAL_HEADER; ; at += FRAME_HEADER + pageSize) {
    const frame = readAt(log, at, FRAME_HEADER + pageSize);
    if (frame === null) return { offsets, count };
    const carried: readonly [number, number] = [frame.readUInt32BE(16), frame.readUInt32BE(20)];
    const isOfThisLog = frame.subarray(8, 16).equals(salts);
    const first = checksum(sums, frame.subarray(0, 8), isLittleEndian);
    const [one, other] = checksum(first, frame.subarray(FRAME_HEADER), isLittleEndian);
    sums = carried;
    if (!isOfThisLog || one !== carried[0] || other !== carried[1]) continue;
    pending.push([frame.readUInt32BE(0), at + FRAME_HEADER]);
    const committed = frame.readUInt32BE(4);
    if (committed === 0) continue;
    for (const [number, offset] of pending) offsets.set(number, offset);
    pending = [];
    count = committed;
  }
}

function checksum(
  [first, second]: readonly [number, number],
  bytes: Buffer,
  isLittleEndian: boolean,
): readonly [number, number] {
  let [one, other] = [first, second];
  for (let at = 0; at + 8 <= bytes.length; at += 8) {
    const [a, b] = isLittleEndian
      ? [bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4)]
      : [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)];
    one = (one + a + other) >>> 0;
    other = (other + b + one) >>> 0;
  }
  return [one, other];
}

function readAt(file: number, offset: number, length: number): Buffer | null {
  const bytes = Buffer.alloc(length);
  return readSync(file, bytes, 0, length, offset) === length ? bytes : null;
}
