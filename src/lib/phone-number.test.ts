import { expect, test } from 'vitest';
import { readPhoneNumber } from './phone-number.ts';

test.each([
  ['+49 (151) 1111-1111', null, '4915111111111'],
  ['0049 151 11111111', null, '4915111111111'],
  ['4915111111111', null, '4915111111111'],
  ['4915111111111', '4917000000000', '4915111111111'],
  ['+1 415 555 1234', '4917000000000', '14155551234'],
  ['393331234567', '393921234567', '393331234567'],
  ['79161234567', '79031234567', '79161234567'],
])('%s of an owner with %s is the number %s', (typed, own, digits) => {
  expect(readPhoneNumber(typed, own)).toEqual({ kind: 'number', digits });
});

test.each([
  [
    '0151 2345678',
    null,
    '0151 2345678 has no country code. Type it with one, such as +49 151 23456789.',
  ],
  [
    '0151 2345678',
    '4917000000000',
    '0151 2345678 has no country code. For a number of your own country, type +49 151 2345678.',
  ],
  [
    '(0)151/2345678',
    '35318765432',
    '(0)151/2345678 has no country code. For a number of your own country, type +353 151/2345678.',
  ],
  [
    '06 1234 5678',
    '393331234567',
    '06 1234 5678 has no country code. For a number of your own country, type +39 06 1234 5678.',
  ],
  // In California, and in Switzerland.
  [
    '415 555 1234',
    '12125551234',
    '415 555 1234 has no country code. For a number of your own country, type +1 415 555 1234. For another country, type +415 555 1234.',
  ],
  // A mobile number of Italy that begins like its country code, and one of Kazakhstan.
  [
    '392 1234567',
    '393331234567',
    '392 1234567 has no country code. For a number of your own country, type +39 392 1234567. For another country, type +392 1234567.',
  ],
  [
    '7012345678',
    '77011234567',
    '7012345678 has no country code. For a number of your own country, type +7 7012345678. For another country, type +7012345678.',
  ],
])('%s of an owner with %s is refused, with what to type', (typed, own, problem) => {
  expect(readPhoneNumber(typed, own)).toEqual({ kind: 'no country', problem });
});

test.each(['', 'Ada', '1234', '+', '00', '@home', 'U0151234567', '+00 151 2345678'])(
  '“%s” is no phone number',
  (typed) => {
    expect(readPhoneNumber(typed, '4917000000000')).toEqual({ kind: 'no number' });
  },
);
