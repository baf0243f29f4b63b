import { PhoneNumber } from './setting-values.ts';

/** Country codes of one and of two digits; all others have three (ITU-T E.164). */
const SHORT_CODES = new Set(
  '1 7 20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 81 82 84 86 90 91 92 93 94 95 98'.split(
    ' ',
  ),
);

/** Countries whose numbers keep their 0 behind the country code: Italy and San Marino. */
const KEEP_ZERO = new Set(['39', '378']);

/** The result of reading a typed text as a phone number. */
export type TypedNumber =
  /** Digits from the country code on. */
  | { readonly kind: 'number'; readonly digits: string }
  /** It could be the number of several people; the sentence says what to type. */
  | { readonly kind: 'no country'; readonly problem: string }
  | { readonly kind: 'no number' };

/**
 * Reads a phone number as people type it. The country code belongs to it: 0151… is another person in every country. So a
 * number without `+` or `00` counts only if it begins with the country code of the owner's own number, and is longer than
 * numbers are there without it: in Italy, 392 1234567 is a mobile number, and 39 its country code.
 *
 * @param own the owner's number, in digits from the country code on; null where it is not known: then all digits that do
 *   not begin with 0 count
 */
export function readPhoneNumber(typed: string, own: string | null): TypedNumber {
  const written = typed.trim();
  if (!/^\+?[\d ()./-]{7,}$/.test(written)) return { kind: 'no number' };
  const isInternational = /^(?:\+|00)/.test(written);
  const digits = written.replace(/^00/, '').replace(/\D/g, '');
  const code = own === null ? null : countryCodeOf(own);
  const isUsual =
    !digits.startsWith('0') && (own === null || code === null || isWhole(digits, own, code));
  if (isInternational || isUsual) {
    const read = PhoneNumber.safeParse(digits);
    return read.success ? { kind: 'number', digits: read.data } : { kind: 'no number' };
  }
  const national = written.replace(/^\(?0\)?[ ./-]*/, KEEP_ZERO.has(code ?? '') ? '0' : '');
  const here =
    code === null
      ? 'Type it with one, such as +49 151 23456789.'
      : `For a number of your own country, type +${code} ${national}.`;
  const elsewhere = digits.startsWith('0') ? '' : ` For another country, type +${written}.`;
  return {
    kind: 'no country',
    problem: `${written} has no country code. ${here}${elsewhere}`,
  };
}

function isWhole(digits: string, own: string, code: string): boolean {
  return digits.startsWith(code) && digits.length > own.length - code.length;
}

function countryCodeOf(number: string): string {
  const short = [1, 2].map((length) => number.slice(0, length));
  return short.find((code) => SHORT_CODES.has(code)) ?? number.slice(0, 3);
}
