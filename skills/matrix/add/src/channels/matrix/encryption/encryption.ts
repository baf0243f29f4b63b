import type { ChannelLog } from '../../channel.ts';
import type { MatrixApi } from '../api.ts';
import { MatrixError } from '../error.ts';
import type { KeyRecords } from '../records/key-records.ts';
import { type Device, KeysLost, type Machine, openMachine } from './machine.ts';

/** Said in a room, and to the owner, where encryption is off. */
export const SWITCHED_OFF =
  'this room is encrypted, and encryption is switched off here (MATRIX_ENCRYPTION), so I can neither read nor ' +
  'answer in it. Please write to me in a room without encryption.';

/** Said where the device's keys are gone. */
export const LOST =
  'this room is encrypted, and the keys of my device are lost, so I can neither read nor answer in it. My owner can ' +
  'give me a new device with `npx claw setup matrix`.';

/** The status line for the owner where the device's keys are gone. */
export const KEYS_LOST =
  'Encrypted rooms cannot be read: the keys of this device are not here any more. `npx claw setup matrix` with user name ' +
  'and password makes a new device.';

type Parts = {
  readonly api: MatrixApi;
  readonly records: KeyRecords;
  readonly device: Device;
  readonly isOn: boolean;
  readonly log: ChannelLog;
};

/** The encryption of an account: opened when the first encrypted room is known, because it takes memory. */
export class Encryption {
  readonly #parts: Parts;
  #machine: Promise<Machine | null> | null = null;
  /** Said in an encrypted room where it cannot be read; null where it can. */
  #problem: string | null;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#problem = parts.isOn ? null : SWITCHED_OFF;
  }

  /** Tells why encrypted rooms cannot be read, as part of a sentence; null where they can. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Returns the keys; null where there are none for want of an encrypted room, or of the keys. */
  async machine(): Promise<Machine | null> {
    return (await this.#machine) ?? null;
  }

  /** Loads the keys, and makes them known. Rejects where the server did not take them. */
  async open(): Promise<Machine | null> {
    const { api, records, device, log, isOn } = this.#parts;
    if (!isOn) return null;
    const forget = () => {
      const broken = this.#machine;
      this.#machine = null;
      void broken?.then((machine) => machine?.close()).catch(() => {}); // It is of no more use.
    };
    // Where the disk takes no keys, those in memory are not gone on with: the next one begins with what is on disk.
    this.#machine ??= openMachine(api, records, device, forget).catch((error: unknown) => {
      forget();
      if (!(error instanceof KeysLost)) throw error;
      this.#problem = LOST;
      log.warn(KEYS_LOST);
      return null;
    });
    return await this.#machine;
  }

  /** @throws MatrixError NOT_ENCRYPTED where an encrypted room cannot be written to */
  async opened(): Promise<Machine> {
    const machine = await this.open();
    if (machine !== null) return machine;
    const reason = this.#problem ?? LOST;
    throw new MatrixError('NOT_ENCRYPTED', `The message was not sent: ${reason}`);
  }

  async close(): Promise<void> {
    const machine = await this.#machine?.catch(() => null);
    await machine?.close();
    this.#machine = null;
  }
}
