import { ConsentNeeded, OperationPending, SkillNotFound } from '@patchclaw/claw/contract';
import type { ClawResult } from '../contracts/claw.ts';
import { operationName } from './waiting-operation.ts';

const BLOCKED = 3;

/** Tells whether a command ended with conflicts, which leaves the tree as it was. */
export function isBlocked({ exitCode }: ClawResult): boolean {
  return exitCode === BLOCKED;
}

/** Why a change did not happen, for the chat; null when it did. The tree is as it was then. */
export function refusalOf(result: ClawResult): string | null {
  if (result.ok && result.exitCode === 0) return null;
  const { error } = result;
  if (error === null) return `claw ended with code ${result.exitCode}.`;
  const pending =
    error.code === 'OPERATION_PENDING' ? OperationPending.safeParse(error.data).data : null;
  if (pending) return pendingText({ verb: pending.verb, args: pending.arguments });
  const known = IN_THE_CHAT[error.code];
  if (known !== undefined) return known;
  if (error.code === 'SKILL_NOT_APPLIED')
    return `${error.message.split(/(?<=[.])\s/, 1)[0]} ${LISTED}`;
  if (error.code === 'SKILL_NOT_FOUND') return unknownSkill(error.message, error.data);
  const [first = '', ...rest] = error.message.split('\n');
  // What follows the first line is the output of a program: its layout is kept.
  return rest.length === 0 ? first : `${first}\n\n\`\`\`\n${rest.join('\n')}\n\`\`\``;
}

const LISTED = '`/skills` lists what is in the code, and what can be added.';

/** Texts for a chat in place of errors that name a shell's command. */
const IN_THE_CHAT: Readonly<Record<string, string>> = {
  NOT_INITIALISED: `No skill is in the code yet. ${LISTED}`,
  NOTHING_TO_UNDO: 'There is no change of the code to undo.',
};

/** Returns the text for a skill that does not exist, with chat commands in place of a shell's. */
function unknownSkill(message: string, data: unknown): string {
  const { nearest } = SkillNotFound.safeParse(data).data ?? { nearest: [] };
  const [what = ''] = message.split(/(?<=[.])\s/, 1);
  const hint = nearest.map((name) => `\`${name}\``).join(', ');
  return `${what}${hint === '' ? '' : ` Nearest: ${hint}.`} \`/skills\` lists what can be added.`;
}

/** Returns a text about the operation that has to end before another change. */
export function pendingText(operation: Parameters<typeof operationName>[0]): string {
  return `“${operationName(operation)}” waits for your decision first: \`/conflicts\` goes on with it, \`/conflicts give up\` forgets it.`;
}

/** Returns the paths that a command changes only with the owner's named consent; empty for any other result. */
export function consentNeeded({ error }: ClawResult): readonly string[] {
  return error?.code === 'CONSENT_NEEDED'
    ? (ConsentNeeded.safeParse(error.data).data?.paths ?? [])
    : [];
}

/**
 * Returns a text that asks for consent to such paths.
 *
 * @param typed the command that the owner repeats to go on
 */
export function consentText(paths: readonly string[], typed: string): string {
  const words = paths.map((path) => `allow ${path}`).join(' ');
  const files = paths.filter((path) => !path.includes('#'));
  const ranges = paths.filter((path) => path.includes('#'));
  const reasons = [
    ...(files.length > 0
      ? [`This changes ${files.join(', ')}, which can run code or configure tools.`]
      : []),
    ...(ranges.length > 0
      ? [`This takes a version that the core does not allow: ${ranges.join(', ')}.`]
      : []),
  ];
  return `${reasons.join(' ')} Nothing is changed yet: look at it, then say \`${typed} ${words}\`.`;
}
