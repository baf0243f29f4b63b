import { expect, test } from 'vitest';
import { z } from 'zod';
import { faultKindOf, ToolFault, withFaultKind } from './tool-fault.ts';

const withCode = (code: string) => Object.assign(new Error(code), { code });

test.each([
  ['not-allowed', withCode('EACCES')],
  ['not-found', withCode('ENOENT')],
  ['not-found', new Error('cannot be read', { cause: withCode('ENOENT') })],
  ['bad-arguments', z.int().safeParse('x').error],
  ['timeout', AbortSignal.timeout(0).reason ?? new DOMException('', 'TimeoutError')],
  ['unknown', new ToolFault('unknown', 'The line broke.')],
  ['failed', new Error('no')],
  ['failed', 'a word'],
])('an error is of the kind %s', (kind, error) => {
  expect(faultKindOf(error)).toBe(kind);
});

test('an error that causes itself ends the search', () => {
  const error = new Error('round');
  error.cause = error;
  expect(faultKindOf(error)).toBe('failed');
});

test('the model reads the kind, then the words', () => {
  expect(withFaultKind(new ToolFault('not-found', 'There is no task 3.')).message).toBe(
    'not-found: There is no task 3.',
  );
});
