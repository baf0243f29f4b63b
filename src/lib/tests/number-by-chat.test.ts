import { expect, test } from 'vitest';
import { numberByChat, numberOf } from '../setting-values.ts';

test('a setting has one number for all chats, and others for the chats of some folders', () => {
  const schema = numberByChat({ from: 1, to: 200, usual: 20 });
  expect(schema.parse(undefined)).toEqual({ all: 20, ofFolders: {} });
  expect(schema.parse('30')).toEqual({ all: 30, ofFolders: {} });
  expect(schema.parse('family:40, 10 __proto__:3')).toEqual({
    all: 10,
    ofFolders: Object.fromEntries([
      ['family', 40],
      ['__proto__', 3],
    ]),
  });
});

test('a chat has its own number where one is set, whatever its folder is called', () => {
  const set = numberByChat({ from: 1, to: 200, usual: 20 }).parse('family:40');
  expect(['family', 'club', 'constructor'].map((folder) => numberOf(set, folder))).toEqual([
    40, 20, 20,
  ]);
});

test.each(['0', '201', 'many', 'family:', 'family:0', ':5', '20;30'])(
  '%s is no such setting, and the words say what is',
  (text) => {
    const { error } = numberByChat({ from: 1, to: 200, usual: 20 }).safeParse(text);
    expect(error?.issues[0]?.message).toContain('must be whole numbers from 1 to 200, such as 20');
  },
);

test('a number may be one that is not set, and a fraction', () => {
  const schema = numberByChat({ from: 0, to: 2, usual: null, example: 0.7, isFraction: true });
  expect(schema.parse('')).toEqual({ all: null, ofFolders: {} });
  expect(numberOf(schema.parse('0.2, family:1'), 'family')).toBe(1);
  expect(schema.parse('0.2, family:1').all).toBe(0.2);
  expect(schema.safeParse('2.1').error?.issues[0]?.message).toBe(
    'must be numbers from 0 to 2, such as 0.7 or 0.7, family:2; not "2.1"',
  );
});
