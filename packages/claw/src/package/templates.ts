import type { LineRange, TreeFile } from '@patchclaw/merge';

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

/**
 * Returns the `tsconfig.json` of a skill's folder in `skills/`, by which an editor follows imports into the core and
 * into the skills that it depends on, as if all were in one tree.
 *
 * @param depends names of skills that are in `skills/` as well
 */
export function editorConfig(depends: readonly string[]): string {
  const others = depends.flatMap((name) => [`../${name}/add`, `../${name}/modify`]);
  const folders = ['add', 'modify', ...others, '../..'].map((folder) => JSON.stringify(folder));
  const inOneLine = `[${folders.join(', ')}]`;
  const isLong = inOneLine.length > 83;
  const rootDirs = isLong ? `[\n      ${folders.join(',\n      ')}\n    ]` : inOneLine;
  return `{
  "extends": "../../tsconfig.json",
  "compilerOptions": {
    "rootDirs": ${rootDirs},
    "incremental": false
  },
  "include": ["add", "modify", "tests"],
  "exclude": []
}
`;
}

/** Adds the editor's settings to a package with TypeScript in it, where the codebase has such settings. */
export function addEditorConfig(
  files: Map<string, TreeFile>,
  depends: readonly string[],
  releaseFile: (path: string) => TreeFile | null,
): void {
  const isTyped = [...files.keys()].some((path) =>
    /^(add|modify|tests)\/.*\.[cm]?tsx?$/.test(path),
  );
  if (!isTyped || files.has('tsconfig.json') || releaseFile('tsconfig.json') === null) return;
  const bytes = Buffer.from(editorConfig(depends));
  files.set('tsconfig.json', { bytes, isExecutable: false });
}
