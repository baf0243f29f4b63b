import { join } from 'node:path';
import { z } from 'zod';
import { jsonWithin, MESSENGER_BOUNDS } from './bounded-json.ts';
import { readTextBeneath } from './open-beneath.ts';

const MAX_BYTES = 4_194_304;

/** Text of a container, on one line and no longer than a chat can show. */
const Line = z.string().transform((text) => text.replace(/[\s\p{Cc}]+/gu, ' ').slice(0, 1_200));

const Lines = z.array(Line).max(100).default([]);

/** What the text of a skill asks for, as the container read it. */
const Asks = z.object({
  programs: Lines,
  installs: Lines,
  hosts: Lines,
  secrets: Lines,
  files: Lines,
  sends: Lines,
});

const Skill = z.object({
  name: Line,
  source: Line,
  folder: Line,
  missing: z.array(Line),
  shadows: z.array(Line),
  /** What its text asks for and is not in the container, whatever it declares. */
  beyond: Lines,
  asks: Asks.nullable().default(null),
  /** Why it is left out; its other fields are then not known. */
  leftOut: Line.optional(),
  description: Line.default(''),
  always: z.boolean().default(false),
  license: Line.nullable().default(null),
  compatibility: Line.nullable().default(null),
  allowedTools: Line.nullable().default(null),
  note: Line.nullable().default(null),
});

const Report = z.object({ count: z.int(), skills: z.array(Skill) });

/** One agent skill, as a chat's container saw it. */
export type ReportedSkill = z.output<typeof Skill>;
/** The agent skills of a chat, as its container saw them in its last turn. */
export type SkillReport = z.output<typeof Report>;

/** Reads the report of a group's container; null where there is none, or none that can be read. */
export async function readSkillReport(
  dataDir: string,
  folder: string,
): Promise<SkillReport | null> {
  // The container can put anything in that folder: no link is followed, and no more is read than fits.
  const names = ['.claude', 'agent-skills.json'];
  try {
    const text = await readTextBeneath(join(dataDir, 'sessions', folder), names, MAX_BYTES);
    return text === null
      ? null
      : (Report.safeParse(jsonWithin(text, MESSENGER_BOUNDS)).data ?? null);
  } catch {
    // Not there, half written by a turn that runs now, or spoilt by hand: the next turn writes it again.
    return null;
  }
}
