import { z } from 'zod';

/** Headers that the request itself decides. */
const FORBIDDEN =
  /^(host|content-length|content-type|transfer-encoding|connection|accept-encoding)$/i;

const ExtraHeaders = z.record(
  z
    .string()
    .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/)
    .refine((name) => !FORBIDDEN.test(name)),
  z.string().regex(/^[\x20-\x7e]{1,2000}$/),
);

/** Further headers as a JSON object, such as `{"X-Title":"Andy"}`. */
export const HeaderList = z
  .string()
  .optional()
  .refine((text) => text === undefined || parsed(text) !== null, {
    error: 'must be headers as a JSON object, such as {"X-Title":"Andy"}',
  });

/** Reads such a setting; none where it cannot be used. */
export function headersIn(text: string | undefined): Readonly<Record<string, string>> {
  return text === undefined ? {} : (parsed(text) ?? {});
}

function parsed(text: string): Readonly<Record<string, string>> | null {
  try {
    return ExtraHeaders.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null; // The setting's error says what it must be.
  }
}
