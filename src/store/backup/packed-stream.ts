// The format of a backup, outside in:
//
//     age             where it is encrypted (age-encryption.org/v1)
//     zstd            one frame with a checksum, then a skippable frame that holds the SHA-256 of it
//     tar             plain files: backup.json, the files, SHA256SUMS
//
// So `age -d -i key.txt FILE | zstd -d | tar x` opens one without Patchclaw, and `sha256sum -c SHA256SUMS` proves it.
// The skippable frame is there for unencrypted files: some bits of a zstd frame can flip without any effect on the
// text, and a file that was changed at all is refused.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { BackupError } from './archive-format.ts';

/** How a backup is locked. */
export type BackupLock =
  | { readonly kind: 'none' }
  | { readonly kind: 'recipients'; readonly recipients: readonly string[] }
  | { readonly kind: 'passphrase'; readonly passphrase: string };

/** The keys that open a locked backup: age identities (`AGE-SECRET-KEY-1…`) and a passphrase. */
export type BackupKeys = {
  readonly identities?: readonly string[];
  readonly passphrase?: string | null;
};

const AGE_MAGIC = Buffer.from('age-encryption.org/v1\n');
const ZSTD_MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
/** A skippable frame of 32 bytes: its magic number and its length. */
const TRAILER_HEAD = Buffer.from([0x5e, 0x2a, 0x4d, 0x18, 32, 0, 0, 0]);
const TRAILER_BYTES = TRAILER_HEAD.length + 32;
/** 2^15 in JavaScript takes one or two seconds; a long passphrase does the rest. */
const SCRYPT_WORK = 15;
/** No more than 8 MB are needed to unpack what we write. */
const WINDOW_LOG = 23;
const SPOILED = 'The backup is damaged: it is not, to the bit, what was written. Use another one.';

/**
 * Makes the layers around the bytes of a tar, in the order in which they are applied.
 *
 * @throws BackupError BAD_RECIPIENT
 */
export async function packingLayers(lock: BackupLock) {
  const encrypt = await encrypterOf(lock);
  const compress = createZstdCompress({
    params: {
      [constants.ZSTD_c_checksumFlag]: 1,
      [constants.ZSTD_c_compressionLevel]: 3,
    },
  });
  return [compress, withTrailer, encrypt] as const;
}

async function* withTrailer(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  for await (const chunk of source) {
    hash.update(chunk);
    yield chunk;
  }
  yield Buffer.concat([TRAILER_HEAD, hash.digest()]);
}

async function encrypterOf(lock: BackupLock) {
  if (lock.kind === 'none') {
    return (source: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> => source;
  }
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  if (lock.kind === 'passphrase') {
    encrypter.setScryptWorkFactor(SCRYPT_WORK);
    encrypter.setPassphrase(lock.passphrase);
  } else {
    for (const recipient of lock.recipients) {
      try {
        encrypter.addRecipient(recipient);
      } catch (cause) {
        throw new BackupError(
          'BAD_RECIPIENT',
          `"${recipient.slice(0, 80)}" is not a public key of age. It begins with "age1": make one with \`age-keygen -o key.txt\` and keep that file somewhere else.`,
          { cause },
        );
      }
    }
  }
  return async function* encrypted(source: AsyncIterable<Uint8Array>) {
    yield* await encrypter.encrypt(streamOf(source));
  };
}

/**
 * Takes off encryption, trailer and compression.
 *
 * @throws BackupError NOT_A_BACKUP, KEY_NEEDED, WRONG_KEY, SPOILED; what zlib says of bytes that it cannot read
 */
export async function* unpacked(
  file: AsyncIterable<Buffer>,
  keys: BackupKeys,
): AsyncGenerator<Uint8Array> {
  const { head, all } = await peek(file, AGE_MAGIC.length);
  const isLocked = head.equals(AGE_MAGIC);
  const packed = isLocked ? decrypted(all, keys) : all;
  if (!isLocked && !head.subarray(0, ZSTD_MAGIC.length).equals(ZSTD_MAGIC)) throw notABackup();
  const unpack = createZstdDecompress({
    params: { [constants.ZSTD_d_windowLogMax]: WINDOW_LOG },
  });
  // The error of a later layer would hide that of an earlier one, such as a wrong digest.
  const failure: { cause?: unknown } = {};
  const checked = Readable.from(withoutTrailer(packed, failure), { objectMode: false });
  checked.on('error', (error) => unpack.destroy(error));
  try {
    yield* checked.pipe(unpack);
  } catch (error) {
    throw failure.cause ?? error;
  } finally {
    checked.destroy();
  }
  if (failure.cause !== undefined) throw failure.cause;
}

async function peek(source: AsyncIterable<Buffer>, size: number) {
  const chunks = source[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  while (head.length < size) {
    const { value, done } = await chunks.next();
    if (done === true) break;
    head = Buffer.concat([head, value]);
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    yield head;
    for (;;) {
      const { value, done } = await chunks.next();
      if (done === true) return;
      yield value;
    }
  }
  return { head: head.subarray(0, size), all: all() };
}

async function* withoutTrailer(
  source: AsyncIterable<Uint8Array>,
  failure: { cause?: unknown },
): AsyncGenerator<Uint8Array> {
  try {
    const hash = createHash('sha256');
    let held: Buffer = Buffer.alloc(0);
    for await (const chunk of source) {
      held = Buffer.concat([held, chunk]);
      const ready = held.subarray(0, Math.max(0, held.length - TRAILER_BYTES));
      held = held.subarray(ready.length);
      if (ready.length === 0) continue;
      hash.update(ready);
      yield ready;
    }
    if (!held.equals(Buffer.concat([TRAILER_HEAD, hash.digest()]))) throw spoiled();
  } catch (error) {
    failure.cause = error;
    throw error;
  }
}

async function* decrypted(source: AsyncIterable<Uint8Array>, keys: BackupKeys) {
  const { identities = [], passphrase = null } = keys;
  if (identities.length === 0 && passphrase === null) {
    throw new BackupError(
      'KEY_NEEDED',
      'The backup is encrypted. Give its key with --identity <file>, or its passphrase with --passphrase.',
    );
  }
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  for (const identity of identities) {
    try {
      decrypter.addIdentity(identity);
    } catch (cause) {
      throw new BackupError('WRONG_KEY', 'The file of the key holds no identity of age.', {
        cause,
      });
    }
  }
  if (passphrase !== null) decrypter.addPassphrase(passphrase);
  let opened: AsyncIterable<Uint8Array>;
  try {
    opened = await decrypter.decrypt(streamOf(source));
  } catch (cause) {
    const isNoMatch = String(cause).includes('no identity matched');
    if (!isNoMatch) throw spoiled(cause);
    throw new BackupError('WRONG_KEY', 'This key or passphrase does not open the backup.', {
      cause,
    });
  }
  try {
    yield* opened;
  } catch (cause) {
    throw spoiled(cause);
  }
}

function streamOf(source: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await chunks.next();
      if (done === true) controller.close();
      // Our own copy: the cipher hands over what it is given, and we reuse nothing.
      else controller.enqueue(new Uint8Array(value));
    },
    async cancel() {
      await chunks.return?.();
    },
  });
}

/** Refuses what was never a backup. */
export function notABackup(): BackupError {
  return new BackupError('NOT_A_BACKUP', 'The file is not a backup of Patchclaw.');
}

/** Refuses a backup that is not, to the bit, what was written. */
export function spoiled(cause?: unknown): BackupError {
  return new BackupError('SPOILED', SPOILED, { cause });
}
