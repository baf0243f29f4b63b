import { expect, test } from 'vitest';
import { openMessage } from '../interactive-console.ts';

test('a line is a message, and a backslash at its end goes on in the next one', () => {
  const message = openMessage();
  expect(message.add('one')).toBe('one');
  expect(message.add('two \\')).toBeNull();
  expect(message.isBegun()).toBe(true);
  expect(message.add('three')).toBe('two \nthree');
  expect(message.isBegun()).toBe(false);
  expect(message.add('C:\\\\')).toBe('C:\\\\');
});

test('the lines of a paste are one message, which the owner ends', () => {
  const message = openMessage();
  message.beginPaste();
  expect(message.add('one\\')).toBeNull();
  expect(message.add('')).toBeNull();
  message.endPaste();
  expect(message.add('two')).toBe('one\\\n\ntwo');
  message.beginPaste();
  message.add('dropped');
  message.endPaste();
  message.drop();
  expect(message.add('kept')).toBe('kept');
});
