import type { TreeFile } from '@patchclaw/merge';
import { isTemplateSection, TEMPLATE_DESCRIPTION, TEST_NOTE } from './templates.ts';

/** A file of a package with parts that only its author can write. */
export type Unwritten = {
  readonly path: string;
  /** Sections that still hold the words of the template; empty for a test that is a beginning. */
  readonly sections: readonly string[];
};

/** Finds what a package still says in the words that it was begun with. */
export function unwrittenIn(files: ReadonlyMap<string, TreeFile>): readonly Unwritten[] {
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
