import { z } from 'zod';
import { readHead } from '../files/read-head.ts';
import { defineSection } from '../prompt-section.ts';

/** Far more than a model takes in: a role's knowledge is shown whole. */
const MAX_BYTES = 1_048_576;

/** Shows the instructions of all roles, and the knowledge of the one that is chosen. */
export const section = defineSection({
  name: 'roles',
  order: 760,
  facts: z.object({ role: z.string().nullable().default(null) }),
  create:
    () =>
    async ({ facts: { role }, places: { global }, isLoop }) => {
      const system = isLoop ? null : await readHead(`${global}/SYSTEM.md`, MAX_BYTES);
      if (role === null) return system;
      const path = `${global}/roles/${role}.md`;
      const knowledge = withoutFrontMatter((await readHead(path, MAX_BYTES)) ?? '');
      const text =
        knowledge === ''
          ? `(${path} says nothing: the role has no knowledge. Tell the owner, who can mend it or say \`/role list\`.)`
          : knowledge;
      const ofRole = `# Your role in all chats now: ${role}\n\n${text}`;
      return system === null ? ofRole : `${system}\n\n${ofRole}`;
    },
});

function withoutFrontMatter(text: string): string {
  return text.replace(/^\uFEFF?---[ \t]*\r?\n[\s\S]*?\r?\n---[ \t]*(\r?\n|$)/, '').trim();
}
