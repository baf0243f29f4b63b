import { once } from 'node:events';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import PostalMime from 'postal-mime';
import { EmailError, explainImap, explainSmtp } from './failure.ts';
import { imapClient, tlsOf } from './imap.ts';
import { signerOf } from './inbound/authentication.ts';
import { tryServer } from './outbound/post.ts';
import type { EmailAccount, MailServer } from './settings.ts';

const MAILS_LOOKED_AT = 20;
const HEADER_BYTES = 32_000;

/** Result of a try: both servers let us in, or one sentence about what is wrong. */
export type Trial =
  | {
      readonly ok: true;
      /** The mailbox tells of new mail by itself. */
      readonly hasIdle: boolean;
      /** Names in the `Authentication-Results` of the last mails, each topmost one, the most frequent first. */
      readonly signers: readonly string[];
    }
  | { readonly ok: false; readonly message: string };

/**
 * Logs in at both servers, opens the mailbox and reads the headers of its last mails. Nothing is sent or changed.
 *
 * @returns never an exception, and nothing that holds the password
 */
export async function tryAccount(account: EmailAccount, timeoutMs: number): Promise<Trial> {
  let found: { hasIdle: boolean; signers: readonly string[] };
  try {
    found = await tryMailbox(account, timeoutMs);
  } catch (error) {
    const { status } = explainImap(error, account.imap);
    return { ok: false, message: words(status.detail) };
  }
  try {
    await tryServer(account, timeoutMs);
  } catch (error) {
    return {
      ok: false,
      message: words(explainSmtp({ error, mayBeDone: false }, account.smtp).message),
    };
  }
  return { ok: true, ...found };
}

/**
 * Opens a line to a server, in TLS where it speaks that from the first byte, and ends it. Nothing is told.
 *
 * @returns one sentence about why there is none; null where there is one
 */
export async function tryLine(
  kind: 'IMAP' | 'SMTP',
  server: MailServer,
  { caFile, timeoutMs }: { readonly caFile: string | null; readonly timeoutMs: number },
): Promise<string | null> {
  const { host, port, startsPlain } = server;
  let socket: Socket | null = null;
  try {
    socket = startsPlain
      ? connectPlain({ host, port })
      : connectTls({ host, port, ...tlsOf({ caFile }, host) });
    const signal = AbortSignal.timeout(timeoutMs);
    await once(socket, startsPlain ? 'connect' : 'secureConnect', { signal });
    return null;
  } catch (caught) {
    const isLate = caught instanceof Error && caught.name === 'AbortError';
    const error = isLate ? Object.assign(new Error('late'), { code: 'ETIMEDOUT' }) : caught;
    return kind === 'IMAP'
      ? words(explainImap(error, server).status.detail)
      : explainSmtp({ error, mayBeDone: false }, server).message;
  } finally {
    socket?.destroy();
  }
}

async function tryMailbox(account: EmailAccount, timeoutMs: number) {
  const client = imapClient(account, timeoutMs);
  const timer = setTimeout(() => client.close(), timeoutMs);
  try {
    await client.connect();
    const mailbox = await client
      .mailboxOpen(account.mailbox, { readOnly: true })
      .catch((cause: unknown) => {
        if (!client.usable) throw cause;
        throw new EmailError('MAILBOX', `The mailbox ${account.mailbox} cannot be opened.`, {
          cause,
        });
      });
    const counts = new Map<string, number>();
    if (mailbox.exists > 0) {
      const first = Math.max(1, mailbox.exists - MAILS_LOOKED_AT + 1);
      const query = { source: { start: 0, maxLength: HEADER_BYTES } };
      for await (const { source } of client.fetch(`${first}:*`, query)) {
        const { headers } = await PostalMime.parse(source ?? '').catch(() => ({ headers: [] }));
        const top = headers.find(({ key }) => key === 'authentication-results');
        const signer = top === undefined ? null : signerOf(top.value);
        if (signer !== null) counts.set(signer, (counts.get(signer) ?? 0) + 1);
      }
    }
    const signers = [...counts].sort(([, one], [, other]) => other - one).map(([name]) => name);
    return { hasIdle: client.capabilities.has('IDLE'), signers };
  } finally {
    clearTimeout(timer);
    client.close();
  }
}

function words(detail: string | null): string {
  return (detail ?? 'The account cannot be used.')
    .replace(/ Trying again\.$/, '')
    .replace(/ in \.env and restart/, '');
}
