import type { LineRange } from '../merge/lines/changed-lines.ts';

/** Returns the placeholder description of a package, until its author writes one. */
export function descriptionOf(name: string): string {
  return `What ${name} does`;
}

/** Matches such a description as a manifest or page holds it. */
export const TEMPLATE_DESCRIPTION = /^["']?What [\w.-]+ does["']?$/;

/** Said in a test that was begun by `pack`. */
export const TEST_NOTE = 'A beginning: say here what must hold once';

/** The sections of a note that its author is to write, each with what it is for. */
const SECTIONS: Readonly<Record<string, string>> = {
  'Key sections': 'Which functions or lists it works on, by name: line numbers move.',
  Invariants: 'What has to hold for the rest of the program to work.',
  'Must keep': 'What a merge must not lose of this change.',
};
const WHAT_FOR = 'Say in a sentence what for.';

/** Tells whether a section of a note still says what the template says there. */
export function isTemplateSection(section: {
  readonly title: string;
  readonly body: string;
}): boolean {
  const body = section.body.trim();
  if (section.title === 'What') return /^Changes [^\n]*\. Say in a sentence what for\.$/.test(body);
  return body !== '' && SECTIONS[section.title] === body;
}

/** Writes the note for resolving a conflict in a file, for the author to fill in. */
export function intentNote(path: string, lines: readonly LineRange[]): string {
  const places = lines.map(([from, to]) =>
    from === to ? `line ${from}` : `lines ${from} to ${to}`,
  );
  return `# ${path}

## What
Changes ${places.join(', ') || 'the file'}. ${WHAT_FOR}
${Object.entries(SECTIONS)
  .map(([title, body]) => `\n## ${title}\n${body}\n`)
  .join('')}`;
}
