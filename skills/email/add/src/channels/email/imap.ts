import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { ImapFlow } from 'imapflow';
import type { EmailAccount } from './settings.ts';

const CONNECT_MS = 30_000;
/** Servers end IDLE after half an hour; many a router forgets a line sooner. */
const IDLE_MS = 9 * 60_000;
/** A longer piece of an answer than is ever asked for. */
const LONGEST_LITERAL = 64_000_000;

/** The TLS of both servers: certificates are checked, by an own signer where the owner names one. */
export function tlsOf({ caFile }: Pick<EmailAccount, 'caFile'>, host: string): ConnectionOptions {
  return {
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(caFile === null ? {} : { ca: readFileSync(caFile) }),
  };
}

/** Makes a client of the mailbox, not connected. The line to it is never without TLS. */
export function imapClient(account: EmailAccount, timeoutMs = CONNECT_MS): ImapFlow {
  const { host, port, startsPlain } = account.imap;
  const client = new ImapFlow({
    host,
    port,
    secure: !startsPlain,
    // Refused where the server has no STARTTLS.
    ...(startsPlain ? { doSTARTTLS: true } : {}),
    auth: { user: account.username, pass: account.password },
    tls: tlsOf(account, host),
    logger: false,
    clientInfo: { name: 'Patchclaw' },
    disableAutoIdle: true,
    maxIdleTime: IDLE_MS,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    maxLiteralSize: LONGEST_LITERAL,
  });
  // Told by what fails, and by `close`.
  client.on('error', () => {});
  return client;
}
