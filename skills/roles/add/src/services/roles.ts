import { z } from 'zod';
import { defineService, type RunningService } from '../host/contracts/service.ts';
import type { CallService } from '../host/contracts/service-call.ts';
import { type ConceptNote, conceptNote, reasonsOf } from '../prompt/roles/concept-note.ts';
import { RolesEnvironment } from '../prompt/roles/settings.ts';
import { ConceptFolder } from './roles/concept-folder.ts';

const RoleRequest = z.discriminatedUnion('kind', [
  /** What the role knows about a message, for the turn that answers it. */
  z.object({ kind: z.literal('note'), role: z.string(), message: z.string() }),
  /** Why concepts were picked: of a message, or of the chat's last one. */
  z.object({ kind: z.literal('why'), role: z.string(), message: z.string().nullable() }),
]);
type RoleRequest = z.output<typeof RoleRequest>;

const MOST_CHATS = 200;
const MOST_PROBLEMS = 5;

/** Keeps the concepts of the role in use ready, and picks those that a message concerns. */
export const service = defineService({
  name: 'roles',
  settings: RolesEnvironment,
  start: ({ settings: { ROLE_TOKENS: tokens }, ...context }) => rolesService(context, tokens),
});

function rolesService(
  context: ConstructorParameters<typeof ConceptFolder>[0],
  tokens: number,
): RunningService {
  const folder = new ConceptFolder(context);
  /** The last note of each chat. */
  const last = new Map<string, { readonly role: string; readonly note: ConceptNote }>();

  async function noteOf(role: string, message: string): Promise<ConceptNote> {
    const graph = await folder.graphOf(role);
    const shown = `/workspace/global/roles/${role}`;
    return conceptNote(graph.pick(message), { role, folder: shown, tokens });
  }

  return {
    stop() {},
    status: () => null,
    async onCall(request, { jid }) {
      const asked = RoleRequest.parse(request);
      if (asked.kind === 'note') {
        const note = await noteOf(asked.role, asked.message);
        last.delete(jid);
        last.set(jid, { role: asked.role, note });
        const [oldest] = last.keys();
        if (last.size > MOST_CHATS && oldest !== undefined) last.delete(oldest);
        return note.text;
      }
      const { concepts } = await folder.graphOf(asked.role);
      const before = last.get(jid);
      const note =
        asked.message === null
          ? before?.role === asked.role
            ? before.note
            : null
          : await noteOf(asked.role, asked.message);
      return whyText(asked, note, concepts);
    },
  };
}

/** Asks for what a role knows about a message; null for nothing. */
export async function conceptsFor(
  callService: CallService,
  role: string,
  message: string,
): Promise<string | null> {
  return z
    .string()
    .nullable()
    .parse(await callService('roles', { kind: 'note', role, message }));
}

/** Asks why concepts were picked, in words for the owner. @param message null for the chat's last one */
export async function whyPicked(
  callService: CallService,
  role: string,
  message: string | null,
): Promise<string> {
  return z.string().parse(await callService('roles', { kind: 'why', role, message }));
}

function whyText(
  { role, message }: RoleRequest,
  note: ConceptNote | null,
  concepts: readonly { readonly file: string; readonly problem: string | null }[],
): string {
  const where = `groups/global/roles/${role}/`;
  if (concepts.length === 0) {
    return `The role ${role} has no concepts. Write some as files in \`${where}\`, one each.`;
  }
  const count = concepts.length === 1 ? '1 concept' : `${concepts.length} concepts`;
  const broken = concepts.filter(({ problem }) => problem !== null);
  const problems = broken
    .slice(0, MOST_PROBLEMS)
    .map(({ file, problem }) => `\`${where}${file}.md\`: ${problem}.`);
  const found =
    note === null
      ? 'This role has answered no message here since the assistant started. Try `/role why <words>`.'
      : note.shown.length + note.leftOut.length === 0
        ? `${message === null ? 'The last message here' : 'That message'} names none of them.`
        : reasonsOf(note).join('\n');
  return [`${role} has ${count}.`, found, ...problems].join('\n\n');
}
