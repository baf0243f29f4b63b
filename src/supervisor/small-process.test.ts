import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { forgetSmallAllocator, SMALL_HEAP, withSmallAllocator } from './small-process.ts';

test('a process with a small heap and allocator runs, and its children get the environment as the owner made it', () => {
  const module = JSON.stringify(new URL('./small-process.ts', import.meta.url).href);
  const script = `import { forgetSmallAllocator } from ${module};
    forgetSmallAllocator(process.env);
    console.log(JSON.stringify(process.env));`;
  const environment = { PATH: process.env['PATH'], MALLOC_ARENA_MAX: '3' };
  const words = [...SMALL_HEAP, '--input-type=module', '--eval', script];
  const printed = execFileSync(process.execPath, words, { env: withSmallAllocator(environment) });
  expect(JSON.parse(String(printed))).toEqual(environment);
});

test('the owner’s settings of the allocator win, and stay', () => {
  const own = { MALLOC_TOP_PAD_: '4096' };
  const environment = { ...withSmallAllocator(own) };
  expect(environment).toMatchObject({ ...own, MALLOC_ARENA_MAX: '2' });
  forgetSmallAllocator(environment);
  expect(environment).toEqual(own);
});
