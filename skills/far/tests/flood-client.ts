// A hostile machine: a client of the real server with a machine's own key, which sends one kind of message as fast as it can.
import { readFileSync } from 'node:fs';
import { connect, nkeyAuthenticator } from '@nats-io/transport-node';

export type Flood = {
  readonly port: number;
  readonly certificate: string;
  readonly seed: string;
  readonly subject: string;
  /** Bytes of each message, in base64. */
  readonly message: string;
  /** Where in it a number stands that counts up with each message, from 1 on; null where all are the same. */
  readonly numberAt: number | null;
};

/** What it says on its standard output, a line each. */
export const SENT_BYTES_A_LINE = 16_777_216;

if (import.meta.main) await flood(JSON.parse(readFileSync(0, 'utf8')) as Flood);

async function flood(parts: Flood): Promise<void> {
  const { port, certificate, seed, subject, numberAt } = parts;
  const connection = await connect({
    servers: `127.0.0.1:${port}`,
    tls: { ca: certificate },
    authenticator: nkeyAuthenticator(new TextEncoder().encode(seed)),
    maxReconnectAttempts: -1,
    reconnectTimeWait: 50,
  });
  const message = Buffer.from(parts.message, 'base64');
  let number = 0;
  let unsaidBytes = 0;
  for (;;) {
    // So much at a time that the way is never empty, and no more than fits in the memory here.
    for (let bytes = 0; bytes < 1_048_576; bytes += message.length + 100) {
      number += 1;
      const own = numberAt === null ? message : Buffer.from(message);
      if (numberAt !== null) own.writeUIntBE(number, numberAt, 6);
      connection.publish(subject, own);
      unsaidBytes += message.length + 100;
    }
    await connection.flush();
    if (unsaidBytes < SENT_BYTES_A_LINE) continue;
    unsaidBytes -= SENT_BYTES_A_LINE;
    process.stdout.write(`sent ${number}\n`);
  }
}
