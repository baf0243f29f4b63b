import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { ChannelClock } from '../../../src/channels/channel.ts';
import { channel } from '../../../src/channels/email.ts';
import type { OpenDatabase } from '../../../src/lib/own-database.ts';
import {
  type ConnectedChannel,
  connectChannel as connect,
  memoryOf,
} from '../../../src/testing/channel/connected-channel.ts';
import { CA } from '../../../src/testing/channel/loopback-certificate.ts';
import { type MailServer, PASSWORD, USER } from './mail-server.ts';

// What the skill brings is reached through here: the files are there once it is applied.
export { checkSender } from '../../../src/channels/email/inbound/authentication.ts';
export { automaticReason } from '../../../src/channels/email/inbound/automatic.ts';
export { textOfHtml } from '../../../src/channels/email/inbound/html-text.ts';
export { ownWordsOf } from '../../../src/channels/email/inbound/own-words.ts';
export { readMail } from '../../../src/channels/email/inbound/read-mail.ts';
export { htmlOf } from '../../../src/channels/email/outbound/html.ts';
export { openRecords } from '../../../src/channels/email/records.ts';
export { emailExamination } from '../../../src/doctor/email.ts';
export { setup } from '../../../src/setup/email.ts';

export const ADA = 'ada@example.com';
export const EVE = 'eve@example.net';
export const SIGNER = 'mx.example.org';

const folder = mkdtempSync(join(tmpdir(), 'claw-email-'));
export const CA_FILE = join(folder, 'ca.pem');
writeFileSync(CA_FILE, CA);
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

let count = 0;

/** Headers of a mail, `From` in small letters for the field's name as it is. */
export type Given = {
  readonly from?: string;
  readonly to?: string;
  readonly text?: string;
  readonly headers?: readonly string[];
  readonly results?: string | null;
  readonly id?: string;
};

/** Writes a mail as it lies in the mailbox: with what the receiving server found out on top. */
export function mail(given: Given = {}): string {
  const {
    from = ADA,
    to = USER,
    text = 'hello',
    headers = [],
    id = `<m${++count}@example.com>`,
  } = given;
  const domain = /@([^\s>]+)/.exec(from)?.[1];
  const { results = `${SIGNER}; dmarc=pass header.from=${domain}` } = given;
  return [
    'Return-Path: <ada@example.com>',
    ...(results === null ? [] : [`Authentication-Results: ${results}`]),
    `From: ${from}`,
    `To: ${to}`,
    `Message-ID: ${id}`,
    'Date: Mon, 23 Nov 2026 00:00:00 +0000',
    'MIME-Version: 1.0',
    ...(headers.some((line) => /^content-type:/i.test(line))
      ? []
      : ['Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: 8bit']),
    ...headers,
    '',
    text,
  ].join('\r\n');
}

/** Settings that let Ada write. */
export function settingsOf(server: MailServer): Readonly<Record<string, string>> {
  return {
    EMAIL_ADDRESS: USER,
    EMAIL_PASSWORD: PASSWORD,
    EMAIL_IMAP: `127.0.0.1:${server.imapPort}`,
    EMAIL_SMTP: `127.0.0.1:${server.smtpPort}`,
    EMAIL_CA_FILE: CA_FILE,
    EMAIL_ALLOW_FROM: ADA,
    EMAIL_AUTHSERV_ID: SIGNER,
  };
}

/** Reads the HTML of a mail that was sent, and its headers. */
export function sentParts(source: string): {
  readonly header: string;
  readonly html: string;
  readonly text: string;
} {
  const lines = (body: string) => body.replaceAll('\r\n', '\n');
  const [header = ''] = source.split('\r\n\r\n', 1);
  const part = (type: string) => {
    const [, head = '', body = ''] =
      new RegExp(`Content-Type: ${type}([^]*?)\r\n\r\n([^]*?)\r\n--`).exec(source) ?? [];
    if (/base64/i.test(head)) return lines(Buffer.from(body, 'base64').toString());
    if (!/quoted-printable/i.test(head)) return lines(body);
    const bytes = body
      .replace(/=\r\n/g, '')
      .replace(/=([\dA-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
    return lines(Buffer.from(bytes, 'latin1').toString());
  };
  return {
    header: header.replace(/\r\n[ \t]+/g, ' '),
    html: part('text/html'),
    text: part('text/plain'),
  };
}

/** A clock whose pauses take no time. */
export const QUICK: ChannelClock = {
  now: Date.now,
  random: () => 0,
  async pause() {
    await setImmediate();
  },
};

/** Returns a database that ends with the process; one that is shared is the disk between two of them. */
export const inMemory = (): OpenDatabase => memoryOf('email');

/** A connected channel that the caller disconnects by leaving the scope. */
export function connectChannel(
  env: Readonly<Record<string, string>>,
  openDatabase?: OpenDatabase,
): Promise<ConnectedChannel> {
  return connect(channel, env, { openDatabase, dataDir: join(folder, 'data'), clock: QUICK });
}
