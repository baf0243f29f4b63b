import { Readable } from 'node:stream';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { PostFailure } from '../failure.ts';
import { tlsOf } from '../imap.ts';
import type { EmailAccount } from '../settings.ts';
import type { Mail } from './compose.ts';

const CONNECT_MS = 20_000;
const SILENT_MS = 45_000;

/** The server did not take a mail, or did not say that it did. */
export class NotPosted extends Error implements PostFailure {
  override readonly name = 'NotPosted';
  readonly error: unknown;
  readonly mayBeDone: boolean;

  constructor(error: unknown, mayBeDone: boolean) {
    super('The mail was not posted.', { cause: error });
    this.error = error;
    this.mayBeDone = mayBeDone;
  }
}

/**
 * Gives a mail to the server for outgoing mail, over TLS and after a login.
 *
 * @throws NotPosted
 */
export async function post(account: EmailAccount, mail: Mail, signal: AbortSignal): Promise<void> {
  const { from, to, content } = mail;
  let isGiven = false;
  // Read only after the server has said that it wants the mail.
  const pieces = Readable.from(
    (function* () {
      for (let at = 0; at < content.length; at += 65_536) yield content.subarray(at, at + 65_536);
      isGiven = true;
    })(),
    { objectMode: false },
  );
  try {
    await withServer(account, CONNECT_MS, signal, (connection) =>
      called((done) => connection.send({ from, to: [...to], size: content.length }, pieces, done)),
    );
  } catch (error) {
    throw new NotPosted(error, isGiven);
  } finally {
    pieces.destroy();
  }
}

/** Connects and logs in, and nothing else: for a try. */
export async function tryServer(account: EmailAccount, timeoutMs: number): Promise<void> {
  await withServer(account, timeoutMs, AbortSignal.timeout(timeoutMs), async () => {});
}

async function withServer(
  account: EmailAccount,
  timeoutMs: number,
  signal: AbortSignal,
  use: (connection: SMTPConnection) => Promise<unknown>,
): Promise<void> {
  const { host, port, startsPlain } = account.smtp;
  const connection = new SMTPConnection({
    host,
    port,
    secure: !startsPlain,
    // Without it the library would send plain where a server has no STARTTLS.
    requireTLS: true,
    tls: tlsOf(account, host),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: SILENT_MS,
  });
  const failed = new Promise<never>((_, reject) => {
    connection.on('error', reject);
    connection.on('end', () => reject(Object.assign(new Error('cut'), { code: 'ECONNECTION' })));
    const late = () => reject(Object.assign(new Error('late'), { code: 'ETIMEDOUT' }));
    signal.addEventListener('abort', late, { once: true });
  });
  failed.catch(() => {}); // Told by the step that waits for it.
  try {
    signal.throwIfAborted();
    await Promise.race([
      new Promise<void>((resolve) => connection.connect(() => resolve())),
      failed,
    ]);
    const credentials = { user: account.username, pass: account.password };
    await Promise.race([
      called((done) => connection.login({ user: account.username, credentials }, done)),
      failed,
    ]);
    await Promise.race([use(connection), failed]);
    connection.quit();
  } catch (error) {
    connection.close();
    throw error;
  }
}

function called(call: (done: (error?: unknown) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    call((error) => (error ? reject(error) : resolve()));
  });
}
