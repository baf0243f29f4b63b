import { parseDocument } from 'yaml';
import { z } from 'zod';

/** The file of the profiles, in the folder that all groups share. */
export const PROFILES_FILE = 'spawn-profiles.yaml';

const Path = z
  .string()
  .refine((path) => pathOf(path) !== null, 'must be the path of a file in the folder of the chat');

const Profile = z.strictObject({
  pool: z.string().min(1).optional(),
  bootstrap_files: z.array(Path).max(20).optional(),
  system_prompt: z.string().max(20_000).optional(),
  system_prompt_file: Path.optional(),
  tools: z.array(z.string()).max(100).optional(),
});

/** A kind of sub-agent, as the owner writes it down. */
export type Profile = z.output<typeof Profile>;

const Profiles = z.record(z.string().regex(/^[a-z0-9][\w-]{0,39}$/i, 'is not a name'), Profile);

const LONGEST = 64_000;

/**
 * Reads the profiles of a text.
 *
 * @returns them by name, or a sentence about what is wrong
 */
export function parseProfiles(text: string): Readonly<Record<string, Profile>> | string {
  // A longer one that is made for it takes the assistant's time for seconds.
  if (text.length > LONGEST) return `${PROFILES_FILE} is longer than ${LONGEST} characters.`;
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error !== undefined) return `${PROFILES_FILE} is no YAML: ${error.message.split('\n')[0]}`;
  const read = Profiles.safeParse(document.toJS() ?? {});
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  return `${PROFILES_FILE}: ${issue?.path.join('.')}: ${issue?.message}.`;
}

/** Returns the parts of a relative path; null for one that leads elsewhere. */
export function pathOf(path: string): readonly string[] | null {
  const names = path.split('/');
  return names.some((name) => ['', '.', '..'].includes(name)) ? null : names;
}
