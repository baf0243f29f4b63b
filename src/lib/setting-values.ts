import { z } from 'zod';
import { shortened } from './graphemes.ts';

/** Creates the schema of a whole number between two bounds, as text; its error is the rest of a sentence. */
export function wholeNumber(from: number, to: number) {
  return numberWhere(/^\d{1,15}$/, from, to, `must be a whole number from ${from} to ${to}`);
}

/** Creates the schema of a number between two bounds, which may be a fraction such as `0.5`. */
export function anyNumber(from: number, to: number) {
  return numberWhere(/^\d{1,15}(\.\d+)?$/, from, to, `must be a number from ${from} to ${to}`);
}

/** A number for all chats (null if none is set), and others for the chats of some folders. */
export type NumberByChat<All extends number | null = number> = {
  readonly all: All | number;
  readonly ofFolders: Readonly<Record<string, number>>;
};

/** Bounds of a number by chat, and the number that holds where none is set. */
type NumberByChatOptions<All extends number | null> = {
  readonly from: number;
  readonly to: number;
  readonly usual: All;
  /** A number for the words of the error. */
  readonly example?: number;
  /** True allows fractions such as `0.5`. */
  readonly isFraction?: boolean;
};

/** Creates the schema of numbers such as `20, family:40`: one for all chats, and others by their folders. */
export function numberByChat<const All extends number | null>({
  from,
  to,
  usual,
  example = usual ?? to,
  isFraction = false,
}: NumberByChatOptions<All>) {
  const kind = isFraction ? 'numbers' : 'whole numbers';
  const pattern = isFraction
    ? /^(?:([\w-]+):)?(\d{1,15}(?:\.\d{1,6})?)$/
    : /^(?:([\w-]+):)?(\d{1,15})$/;
  return z
    .string()
    .default('')
    .transform((text, context): NumberByChat<All> => {
      const ofFolders = new Map<string, number>();
      let all: All | number = usual;
      for (const entry of text.split(/[\s,]+/).filter((one) => one !== '')) {
        const [, folder, digits = ''] = pattern.exec(entry) ?? [];
        const number = Number(digits);
        if (digits === '' || number < from || number > to) {
          const message = `must be ${kind} from ${from} to ${to}, such as ${example} or ${example}, family:${to}; not ${quoted(entry)}`;
          context.addIssue({ code: 'custom', message });
          return z.NEVER;
        }
        if (folder === undefined) all = number;
        else ofFolders.set(folder, number);
      }
      return { all, ofFolders: Object.fromEntries(ofFolders) };
    });
}

/** Returns the number that holds in the chats of a folder. */
export function numberOf<All extends number | null>(
  { all, ofFolders }: NumberByChat<All>,
  folder: string,
): All | number {
  return (Object.hasOwn(ofFolders, folder) ? ofFolders[folder] : null) ?? all;
}

/** Creates the schema of one of a few words. */
export function oneOf<const Words extends readonly [string, string, ...string[]]>(words: Words) {
  const list = `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
  return z.enum(words, { error: ({ input }) => `must be ${list}, not ${quoted(input)}` });
}

/** An address of a server, as `problemOfAddress` wants it. */
export const Address = z.string().refine((text) => problemOfAddress(text) === null, {
  // The address itself may hold a password, so it is not repeated.
  error: 'must be the address of a server, such as https://example.org/v1, without spaces',
});

/**
 * Names or ids with spaces or commas between them; none where nothing is set.
 *
 * @public skills take it for lists of who may write
 */
export const NameList = z
  .string()
  .default('')
  .transform((list) => list.split(/[\s,]+/).filter((name) => name !== ''));

/** A phone number with its country, in any of the usual ways of writing; read as digits. */
export const PhoneNumber = z
  .string()
  .transform((number) => number.replace(/[\s()./-]/g, '').replace(/^\+/, ''))
  .refine((number) => /^[1-9]\d{6,14}$/.test(number), 'must be a phone number such as +49 151 …');

/**
 * Says in a sentence what is wrong with the address of a server; null if nothing.
 *
 * @param example an address of such a server
 */
export function problemOfAddress(
  typed: string,
  example = 'http://localhost:11434/v1',
): string | null {
  const suchAs = `such as ${example}`;
  if (typed === '') return `Type the address of the server, ${suchAs}.`;
  if (!/^https?:\/\/[^/]/i.test(typed)) {
    return `An address begins with http:// or https://, ${suchAs}.`;
  }
  if (/\s/.test(typed)) return `An address has no spaces, ${suchAs}.`;
  if (URL.canParse(typed)) return null;
  const port = /^https?:\/\/[^/?#]*:([^/?#:\]]+)(?:[/?#]|$)/i.exec(typed)?.[1] ?? null;
  return port === null || URL.canParse(typed.replace(`:${port}`, ''))
    ? `A port is a number from 1 to 65535, ${suchAs}.`
    : `This is not the address of a server: write it ${suchAs}.`;
}

function numberWhere(pattern: RegExp, from: number, to: number, problem: string) {
  return z
    .string()
    .trim()
    .refine((text) => pattern.test(text) && Number(text) >= from && Number(text) <= to, {
      error: ({ input }) => `${problem}, not ${quoted(input)}`,
    })
    .transform(Number);
}

function quoted(input: unknown): string {
  const text = String(input);
  return `"${shortened(text, 40)}"`;
}
