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

/** A file of a package with parts that only its author can write. */
type UnwrittenPart = {
  readonly path: string;
  /** Sections that still hold the words of the template; empty for a test that is a beginning. */
  readonly sections: readonly string[];
};

/** Finds what a package still says in the words that it was begun with. */
export function unwrittenIn(files: ReadonlyMap<string, TreeFile>): readonly UnwrittenPart[] {
  return [...files].flatMap(([path, { bytes }]) => {
    const text = bytes.toString('utf8');
    if (path === 'SKILL.md') {
      const isBegun = TEMPLATE_DESCRIPTION.test(/^description: (.*)$/m.exec(text)?.[1] ?? '');
      return isBegun ? [{ path, sections: ['description'] }] : [];
    }
    if (/^tests\//.test(path)) return text.includes(TEST_NOTE) ? [{ path, sections: [] }] : [];
    if (!/^modify\/.*\.intent\.md$/.test(path)) return [];
    const sections = sectionsOf(text).filter(isTemplateSection);
    return sections.length === 0 ? [] : [{ path, sections: sections.map(({ title }) => title) }];
  });
}

/** Returns an intent note without what is still the template's; empty where nothing is written. */
export function writtenPart(note: string): string {
  const sections = sectionsOf(note);
  if (!sections.some(isTemplateSection)) return note;
  const written = sections.filter(
    (section) => !isTemplateSection(section) && section.body.trim() !== '',
  );
  return written.map(({ text }) => text).join('');
}

type Section = { readonly title: string; readonly body: string; readonly text: string };

/** Returns a note by its headings; what is above the first one has no title. */
function sectionsOf(note: string): readonly Section[] {
  return note.split(/^(?=#{1,6} )/m).map((text) => {
    const [, title = '', body = text] = /^#{1,6} (.*)\n?([\s\S]*)$/.exec(text) ?? [];
    return { title, body, text };
  });
}
