import { z } from 'zod';
import { NameList, oneOf, wholeNumber } from '../../lib/setting-values.ts';

const MB = 1_000_000;

const MailAddress = z
  .string()
  .trim()
  .toLowerCase()
  .regex(
    /^[^\s@<>,"+]+@[^\s@<>,"]+$/,
    'must be a mail address such as andy@example.org, without +',
  );
const Host = z
  .string()
  .trim()
  .regex(
    /^(\[[\da-fA-F:]+\]|[\w.-]+)(:\d{1,5})?$/,
    'must be a name such as mail.example.org, or one with a port',
  );
const YesOrNo = oneOf(['yes', 'no']);

/** Settings of the owner for mail. */
export const EmailEnvironment = z.object({
  EMAIL_ADDRESS: MailAddress.optional(),
  EMAIL_ALLOW_FROM: NameList,
  EMAIL_AUTHENTICATION: oneOf(['required', 'off']).default('required'),
  EMAIL_AUTHSERV_ID: z.string().trim().optional(),
  EMAIL_CA_FILE: z.string().trim().optional(),
  EMAIL_IMAP: Host.optional(),
  EMAIL_IMAP_STARTTLS: YesOrNo.optional(),
  EMAIL_MAILBOX: z.string().trim().min(1).default('INBOX'),
  EMAIL_MAX_ATTACHMENT_MB: wholeNumber(1, 100).default(18),
  EMAIL_PASSWORD: z.string().optional(),
  EMAIL_POLL_SECONDS: wholeNumber(5, 3_600).default(60),
  EMAIL_SMTP: Host.optional(),
  EMAIL_SMTP_STARTTLS: YesOrNo.optional(),
  EMAIL_USERNAME: z.string().trim().optional(),
});

/** A server of the account's. The line to it is always in TLS: from the first byte, or by STARTTLS. */
export type MailServer = {
  readonly host: string;
  readonly port: number;
  readonly startsPlain: boolean;
};

/** The owner's account for the assistant. */
export type EmailAccount = {
  /** In small letters. */
  readonly address: string;
  readonly username: string;
  readonly password: string;
  readonly imap: MailServer;
  readonly smtp: MailServer;
  /** The file with the certificate of who signed the servers'; null where the system knows them. */
  readonly caFile: string | null;
  /** Addresses in small letters, `@example.org` for all of a domain, or `*`. */
  readonly allowFrom: readonly string[];
  /** The name by which the receiving server signs its results; null where senders are not checked. */
  readonly authservId: string | null;
  /** False where the owner has switched the check of senders off. */
  readonly checksSenders: boolean;
  readonly mailbox: string;
  readonly pollMs: number;
  readonly maxFileBytes: number;
};

/** Returns the owner's account; null where none is set. */
export function accountOf(settings: z.output<typeof EmailEnvironment>): EmailAccount | null {
  const { EMAIL_ADDRESS: address, EMAIL_PASSWORD: password } = settings;
  const imap = serverOf('IMAP', settings);
  const smtp = serverOf('SMTP', settings);
  if (!address || !password || imap === null || smtp === null) return null;
  return {
    address,
    username: settings.EMAIL_USERNAME || address,
    password,
    imap,
    smtp,
    caFile: settings.EMAIL_CA_FILE || null,
    allowFrom: settings.EMAIL_ALLOW_FROM.map((entry) => entry.toLowerCase()),
    authservId: settings.EMAIL_AUTHSERV_ID?.toLowerCase() || null,
    checksSenders: settings.EMAIL_AUTHENTICATION === 'required',
    mailbox: settings.EMAIL_MAILBOX,
    pollMs: settings.EMAIL_POLL_SECONDS * 1_000,
    maxFileBytes: settings.EMAIL_MAX_ATTACHMENT_MB * MB,
  };
}

const PORTS = { IMAP: { usual: 993, plain: [143] }, SMTP: { usual: 465, plain: [25, 587] } };

/** Returns one of the account's servers; null where none is set. */
export function serverOf(
  kind: 'IMAP' | 'SMTP',
  settings: z.output<typeof EmailEnvironment>,
): MailServer | null {
  const typed = settings[`EMAIL_${kind}`];
  if (!typed) return null;
  const startsPlain = settings[`EMAIL_${kind}_STARTTLS`];
  const ports = PORTS[kind];
  const [, host = typed, digits] = /^(.*?)(?::(\d{1,5}))?$/.exec(typed) ?? [];
  const port = digits === undefined ? ports.usual : Number(digits);
  const isPlain = startsPlain === undefined ? ports.plain.includes(port) : startsPlain === 'yes';
  return { host: host.replace(/^\[|\]$/g, ''), port, startsPlain: isPlain };
}
