import { expect, test } from 'vitest';
import { numberByChat, numberOf } from '../setting-values.ts';

test('a setting has one number for all chats, and others for the chats of some folders', () => {
  const schema = numberByChat(1, 200, 20);
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
  const set = numberByChat(1, 200, 20).parse('family:40');
  expect(['family', 'club', 'constructor'].map((folder) => numberOf(set, folder))).toEqual([
    40, 20, 20,
  ]);
});

test.each(['0', '201', 'many', 'family:', 'family:0', ':5', '20;30'])(
  '%s is no such setting, and the words say what is',
  (text) => {
    const { error } = numberByChat(1, 200, 20).safeParse(text);
    expect(error?.issues[0]?.message).toContain('must be whole numbers from 1 to 200, such as 20');
  },
);
