import { type Packet, Store } from 'mqtt';
import type { KeptPublish, PartName, Records } from './records.ts';

type Done = (error?: Error, packet?: Packet) => void;

/**
 * The messages of a session on their way to the broker, as MQTT.js asks for them. It begins with those that an earlier
 * session or process left: MQTT.js publishes that first, in order, under the numbers that the broker knows.
 *
 * A message of the host's is on disk before its first byte is sent (`keep`); a status of the channel's never is.
 */
export class OutgoingStore extends Store {
  readonly #records: Records;

  constructor(records: Records) {
    super({ clean: false });
    this.#records = records;
    this.#fill();
  }

  /** The broker has no session: nothing that was half told counts. */
  forgetSession(): void {
    this.#records.forgetSession();
    this.#fill();
  }

  /** Puts a message on disk that is about to be sent. */
  keep(part: PartName, publish: Omit<KeptPublish, 'isReleased'>): void {
    this.#records.begin(part, publish);
  }

  override put(packet: Packet, done: (error?: Error) => void): this {
    if (packet.cmd === 'pubrel' && packet.messageId !== undefined) {
      this.#records.release(packet.messageId);
    }
    return super.put(packet, done);
  }

  override del(packet: Pick<Packet, 'messageId'>, done: Done): this {
    if (packet.messageId !== undefined) this.#records.done(packet.messageId);
    return super.del(packet, done);
  }

  #fill(): void {
    for (const publish of this.#records.underway()) super.put(packetOf(publish), () => {});
  }
}

function packetOf({ packet: messageId, topic, payload, qos, isReleased }: KeptPublish): Packet {
  if (isReleased) return { cmd: 'pubrel', messageId };
  return { cmd: 'publish', messageId, topic, payload, qos, dup: true, retain: false };
}
