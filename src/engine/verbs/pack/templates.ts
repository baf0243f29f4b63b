import type { LineRange } from '../../merge/changed-lines.ts';

/** SKILL.md of a fresh package: what it does, and what the owner has to do. */
export function skillPage(name: string, description: string, settings: readonly string[]): string {
  const steps =
    settings.length === 0
      ? 'Nothing has to be set up.'
      : settings.map((setting) => `- Put \`${setting}\` into \`.env\`.`).join('\n');
  return `---
name: ${name}
description: ${JSON.stringify(description)}
---

# ${name}

${description}

## Set-up

${steps}
`;
}

/** The note that whoever resolves a conflict in a file will read, for the author to fill in. */
export function intentNote(path: string, lines: readonly LineRange[]): string {
  const places = lines.map(([from, to]) =>
    from === to ? `line ${from}` : `lines ${from} to ${to}`,
  );
  return `# ${path}

## What
Changes ${places.join(', ') || 'the file'}. Say in a sentence what for.

## Key sections
Which functions or lists it works on, by name: line numbers move.

## Invariants
What has to hold for the rest of the program to work.

## Must keep
What a merge must not lose of this change.
`;
}

/**
 * A test that the author has yet to write; the manifest does not list it before. Null where the test
 * command takes other files than TypeScript, as far as is known.
 */
export function testStub(name: string, testCommand: string): string | null {
  if (!/\b(vitest|node)\b/.test(testCommand)) return null;
  const runner = /\bvitest\b/.test(testCommand)
    ? "import { test } from 'vitest';"
    : "import { test } from 'node:test';";
  return `${runner}

// Write what must hold once ${name} is applied, then list this file under \`test\` in manifest.yaml.
test.todo('${name} does what it is for');
`;
}
