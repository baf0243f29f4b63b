import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parse } from '@babel/parser';
import { expect, test } from 'vitest';
import { z } from 'zod';

const REPOSITORY = resolve(import.meta.dirname, '../..');
const SOURCES = [
  'src/tools/**/*.ts',
  'src/services/**/*.ts',
  'container/agent/tools/*.ts',
  'skills/*/add/src/**/*.ts',
  'skills/*/add/container/agent/**/*.ts',
];

const Property = z.object({
  type: z.enum(['ObjectProperty', 'ObjectMethod']),
  key: z.object({ name: z.string() }),
});
const Literal = z.looseObject({
  type: z.literal('ObjectExpression'),
  properties: z.array(z.unknown()),
  loc: z.object({ start: z.object({ line: z.int() }) }),
});

/** Returns the object literals of a file that define a tool for agents, each with the names of its properties. */
function toolsIn(
  path: string,
): readonly { readonly line: number; readonly has: ReadonlySet<string> }[] {
  const text = readFileSync(join(REPOSITORY, path), 'utf8');
  if (!['description', 'input', 'run'].every((word) => text.includes(word))) return [];
  const found: { line: number; has: ReadonlySet<string> }[] = [];
  function visit(node: unknown): void {
    if (typeof node !== 'object' || node === null) return;
    const literal = Literal.safeParse(node).data;
    if (literal !== undefined) {
      const names = literal.properties.flatMap(
        (one) => Property.safeParse(one).data?.key.name ?? [],
      );
      const has = new Set(names);
      if (['description', 'input', 'run'].every((name) => has.has(name))) {
        found.push({ line: literal.loc.start.line, has });
      }
    }
    Object.values(node).forEach(visit);
  }
  visit(parse(text, { sourceType: 'module', plugins: ['typescript'] }).program.body);
  return found;
}

test('every tool of the core and of the skills says what a second call does, and who wrote what it returns', async () => {
  const silent: string[] = [];
  let tools = 0;
  for await (const path of glob(SOURCES, { cwd: REPOSITORY })) {
    if (path.endsWith('.test.ts')) continue;
    for (const { line, has } of toolsIn(path)) {
      tools += 1;
      for (const name of ['repeat', 'brings']) {
        if (!has.has(name)) silent.push(`${path}:${line} ${name}`);
      }
    }
  }
  expect(silent).toEqual([]);
  // The core has 23, and the skills have 14: the search finds them.
  expect(tools).toBeGreaterThan(30);
});
