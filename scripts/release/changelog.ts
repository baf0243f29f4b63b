import { parse } from 'yaml';
import { z } from 'zod';

/** The kinds of changes, in the order of Keep a Changelog. */
const KINDS = ['added', 'changed', 'deprecated', 'removed', 'fixed', 'security'] as const;

const Head = z.strictObject({
  kind: z.enum(KINDS),
  skill: z.string().optional(),
  package: z.enum(['claw', 'merge']).optional(),
});

/** One change that the next release brings; `skill` or `package` where it belongs in the changelog of one. */
export type Change = z.infer<typeof Head> & { readonly path: string; readonly text: string };

/**
 * Reads one file of `changes/`: YAML between two lines of dashes, then one line or several of Markdown.
 *
 * @throws Error with the path and what is wrong
 */
export function readChange(path: string, content: string): Change {
  const [, head, text = ''] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(content) ?? [];
  if (head === undefined)
    throw new Error(`${path} does not begin with --- and what kind of change it is.`);
  const read = Head.safeParse(parse(head));
  if (!read.success) throw new Error(`${path}: ${z.prettifyError(read.error)}`);
  if (text.trim() === '') throw new Error(`${path} says nothing below its head.`);
  return { ...read.data, path, text: text.trim() };
}

/** Returns the lists of a release, one for each kind of change; empty where there is no change. */
export function listsOf(changes: readonly Change[]): string {
  return KINDS.flatMap((kind) => {
    const texts = changes.filter((change) => change.kind === kind).map(({ text }) => text);
    if (texts.length === 0) return [];
    const items = texts.map((text) => `- ${text.replaceAll('\n', '\n  ')}`);
    return [`### ${kind.charAt(0).toUpperCase()}${kind.slice(1)}\n\n${items.join('\n')}\n`];
  }).join('\n');
}

/**
 * Returns a changelog with a release at its top.
 *
 * A section that waits for this release ({@link waitsFor}) gets the version and the date, and the lists at its end.
 *
 * @param changelog the whole text, with a title above its sections
 * @param date as 2026-12-24
 */
export function withRelease(
  changelog: string,
  {
    version,
    date,
    lists,
  }: { readonly version: string; readonly date: string; readonly lists: string },
): string {
  const heading = `## [${version}] - ${date}`;
  const [before, ...sections] = changelog.split(/^(?=## )/m);
  const top = sections[0] ?? '';
  const [first, rest] = waitsFor(changelog, version)
    ? [`${heading}\n${top.slice(top.indexOf('\n') + 1).trimEnd()}\n`, sections.slice(1)]
    : [`${heading}\n`, sections];
  const section = [first, lists]
    .filter((part) => part !== '')
    .join('\n')
    .trimEnd();
  return [before?.trimEnd() ?? '', section, ...rest.map((one) => one.trimEnd())]
    .join('\n\n')
    .trimEnd()
    .concat('\n');
}

/** Whether the top section of a changelog waits for this release: `[Unreleased]`, or the version as `unreleased`. */
export function waitsFor(changelog: string, version: string): boolean {
  const heading = /^## .*$/m.exec(changelog)?.[0];
  return heading === '## [Unreleased]' || heading === `## [${version}] - unreleased`;
}
