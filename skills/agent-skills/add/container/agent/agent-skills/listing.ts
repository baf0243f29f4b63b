import { join } from 'node:path';
import { cutText } from '../../../src/lib/cut-text.ts';
import type { SkillFile } from './front-matter.ts';
import type { FoundSkill } from './scan.ts';
import { SKILL_FILE } from './skill-folder.ts';

/** Limits of what each turn pays for: skills in the list, its bytes, a body that is always shown, and all of them. */
const MAX_LISTED = 100;
const MAX_LIST_BYTES = 49_152;
const MAX_BODY_BYTES = 8_192;
const MAX_BODIES_BYTES = 32_768;

const INTRODUCTION = [
  '# Abilities',
  '',
  'Instructions for certain kinds of work, each a folder with a SKILL.md. Where a task fits one, read its SKILL.md with read_file before you begin, and follow it. Paths in it are relative to its folder; its scripts run with `shell`, here in the container. One with available="false" lacks what `requires` names: say so instead of trying. What `text-asks-for` names is not in the container: do those steps by your tools where you can, and say which you cannot. They are not the skills of your own code, which owner_command lists.',
].join('\n');

/** Writes the section: the skills as XML, and after them the bodies that are always shown; null for none. */
export function skillListing(found: readonly FoundSkill[]): string | null {
  if (found.length === 0) return null;
  const shown = shownAlways(found);
  const bodies = [...shown.values()];
  const listed = found.filter((skill) => !shown.has(skill));
  const xml = listed.slice(0, MAX_LISTED).map(inXml);
  let bytes = 0;
  const fitting = xml.filter((one) => {
    bytes += Buffer.byteLength(one);
    return bytes <= MAX_LIST_BYTES;
  });
  const more = listed.length - fitting.length;
  const rest =
    more === 0
      ? []
      : [`(${more} more are not shown: list the folders with list_files, or take some out.)`];
  const list =
    fitting.length === 0 ? [] : [['<skills>', ...fitting, '</skills>', ...rest].join('\n')];
  return [INTRODUCTION, ...list, ...bodies].join('\n\n');
}

/** Returns the texts of skills that are in every turn, as far as they fit; the others are listed like any. */
function shownAlways(found: readonly FoundSkill[]): ReadonlyMap<FoundSkill, string> {
  const shown = new Map<FoundSkill, string>();
  let bytes = 0;
  for (const skill of found) {
    const { folder, missing, path } = skill;
    if (folder.kind !== 'read' || !folder.file.always || missing.length > 0) continue;
    const body = bodyOf(folder.file, path);
    bytes += Buffer.byteLength(body);
    if (bytes > MAX_BODIES_BYTES) break;
    shown.set(skill, body);
  }
  return shown;
}

function inXml({ name, path, folder, missing, beyond }: FoundSkill): string {
  const location = join(path, SKILL_FILE);
  const isAvailable = folder.kind === 'read' && missing.length === 0;
  const lines =
    folder.kind === 'left-out'
      ? [element('name', name), element('requires', `Left out: ${folder.reason}`)]
      : [
          element('name', name),
          element('description', folder.file.description),
          ...(folder.file.compatibility === null
            ? []
            : [element('compatibility', folder.file.compatibility)]),
          element('location', location),
          ...(missing.length === 0 ? [] : [element('requires', missing.join(', '))]),
          ...(beyond.length === 0 ? [] : [element('text-asks-for', beyond.join(', '))]),
        ];
  return [`<skill available="${isAvailable}">`, ...lines, '</skill>'].join('\n');
}

function element(name: string, text: string): string {
  const escaped = text.replace(/\p{Cc}+/gu, ' ').replace(/[&<>]/g, (sign) => ENTITIES[sign] ?? '');
  return `  <${name}>${escaped}</${name}>`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

function bodyOf({ name, body }: SkillFile, path: string): string {
  const { text, isTruncated } = cutText(body, MAX_BODY_BYTES);
  const more = isTruncated ? `\n\n[cut here; the whole is in ${join(path, SKILL_FILE)}]` : '';
  return `## Ability: ${name}\n\n${text}${more}`;
}
