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
