import type { PageFile } from './page-file.ts';

/** A value as SQLite stores it. Integers are `bigint`, so that none loses digits. */
export type Value = null | bigint | number | string | Buffer;

/** One row as its page has it: `rowid` is null in tables without one, and in indexes. */
export type StoredRow = { readonly rowid: bigint | null; readonly values: readonly Value[] };

/** A page of a table or an index: its readable rows, and the pages below it. */
export type BTreePage = {
  readonly isTable: boolean;
  readonly isLeaf: boolean;
  readonly rows: readonly StoredRow[];
  readonly children: readonly number[];
  /** True if a row or a child of this page cannot be read. */
  readonly isDamaged: boolean;
};

const KINDS: Readonly<Record<number, { readonly isTable: boolean; readonly isLeaf: boolean }>> = {
  2: { isTable: false, isLeaf: false },
  5: { isTable: true, isLeaf: false },
  10: { isTable: false, isLeaf: true },
  13: { isTable: true, isLeaf: true },
};
const FILE_HEADER = 100;
const MAX_VARINT = 9;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads one page of a B-tree (https://www.sqlite.org/fileformat2.html, 1.6). Rows that cannot be read are left out: in a
 * page that was overwritten in part, the others are still there. Null if it is no such page.
 */
export function readBTreePage(file: PageFile, number: number): BTreePage | null {
  const page = file.page(number);
  if (page === null) return null;
  const start = number === 1 ? FILE_HEADER : 0;
  const kind = KINDS[page.readUInt8(start)];
  if (kind === undefined) return null;
  const cellCount = page.readUInt16BE(start + 3);
  const pointers = start + (kind.isLeaf ? 8 : 12);
  if (pointers + 2 * cellCount > file.usableBytes) return null;
  const rows: StoredRow[] = [];
  const children: number[] = [];
  let isDamaged = false;
  const addChild = (child: number) => {
    if (child > 1 && child <= file.count) children.push(child);
    else isDamaged = true;
  };
  for (let at = 0; at < cellCount; at += 1) {
    const offset = page.readUInt16BE(pointers + 2 * at);
    if (offset < pointers + 2 * cellCount || offset + 4 > file.usableBytes) {
      isDamaged = true;
      continue;
    }
    if (!kind.isLeaf) addChild(page.readUInt32BE(offset));
    if (kind.isTable && !kind.isLeaf) continue;
    const row = readRow(file, page, kind.isLeaf ? offset : offset + 4, kind.isTable);
    if (row === null) isDamaged = true;
    else rows.push(row);
  }
  if (!kind.isLeaf) addChild(page.readUInt32BE(start + 8));
  return { ...kind, rows, children, isDamaged };
}

function readRow(file: PageFile, page: Buffer, offset: number, isTable: boolean): StoredRow | null {
  const length = varint(page, offset);
  if (length === null || length.value > BigInt(file.count * file.usableBytes)) return null;
  const rowid = isTable ? varint(page, length.end) : null;
  if (isTable && rowid === null) return null;
  const begin = rowid?.end ?? length.end;
  const payload = readPayload(file, page, begin, { bytes: Number(length.value), isTable });
  const values = payload === null ? null : readRecord(payload);
  return values === null ? null : { rowid: rowid?.value ?? null, values };
}

/** Puts a payload together from its page and the overflow pages behind it. */
function readPayload(
  file: PageFile,
  page: Buffer,
  begin: number,
  { bytes, isTable }: { readonly bytes: number; readonly isTable: boolean },
): Buffer | null {
  const usable = file.usableBytes;
  const most = isTable ? usable - 35 : Math.floor(((usable - 12) * 64) / 255) - 23;
  if (bytes <= most) return begin + bytes > usable ? null : page.subarray(begin, begin + bytes);
  const least = Math.floor(((usable - 12) * 32) / 255) - 23;
  const fitting = least + ((bytes - least) % (usable - 4));
  const local = fitting <= most ? fitting : least;
  if (begin + local + 4 > usable) return null;
  const parts = [page.subarray(begin, begin + local)];
  let next = page.readUInt32BE(begin + local);
  for (let rest = bytes - local; rest > 0; rest -= usable - 4) {
    const overflow = next > 1 && next <= file.count ? file.page(next) : null;
    if (overflow === null) return null;
    parts.push(overflow.subarray(4, 4 + Math.min(rest, usable - 4)));
    next = overflow.readUInt32BE(0);
  }
  return next === 0 ? Buffer.concat(parts) : null;
}

/** Decodes a record; null unless its header and its values fill it exactly. */
function readRecord(payload: Buffer): readonly Value[] | null {
  const header = varint(payload, 0);
  if (header === null || header.value > BigInt(payload.length)) return null;
  const headerEnd = Number(header.value);
  const values: Value[] = [];
  let body = headerEnd;
  let at = header.end;
  while (at < headerEnd) {
    const type = varint(payload, at);
    if (type === null) return null;
    at = type.end;
    const size = sizeOf(Number(type.value));
    if (size === null || body + size > payload.length) return null;
    const value = decode(Number(type.value), payload.subarray(body, body + size));
    if (value === undefined) return null;
    values.push(value);
    body += size;
  }
  return at === headerEnd && body === payload.length && values.length > 0 ? values : null;
}

const INTEGER_BYTES = [0, 1, 2, 3, 4, 6, 8];

function sizeOf(type: number): number | null {
  if (type >= 12) return Math.floor((type - 12) / 2);
  if (type === 7) return 8;
  if (type === 8 || type === 9) return 0;
  return INTEGER_BYTES[type] ?? null;
}

function decode(type: number, bytes: Buffer): Value | undefined {
  if (type === 0) return null;
  if (type === 7) return bytes.readDoubleBE(0);
  if (type === 8 || type === 9) return BigInt(type - 8);
  if (type < 12) return BigInt.asIntN(bytes.length * 8, BigInt(`0x${bytes.toString('hex')}`));
  if (type % 2 === 0) return Buffer.from(bytes);
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined; // Not what SQLite wrote: the row lies on a damaged page.
  }
}

function varint(
  bytes: Buffer,
  start: number,
): { readonly value: bigint; readonly end: number } | null {
  let value = 0n;
  for (let at = 0; at < MAX_VARINT; at += 1) {
    const byte = bytes[start + at];
    if (byte === undefined) return null;
    if (at === MAX_VARINT - 1) {
      return { value: BigInt.asIntN(64, (value << 8n) | BigInt(byte)), end: start + MAX_VARINT };
    }
    value = (value << 7n) | BigInt(byte & 0x7f);
    if (byte < 0x80) return { value, end: start + at + 1 };
  }
  return null;
}
