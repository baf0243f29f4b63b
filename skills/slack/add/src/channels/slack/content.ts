import type { Attachment } from '../channel.ts';
import { withheldNote } from '../kit/notes.ts';
import type { SlackFile } from './event.ts';

/** Ways in which Slack keeps what it does not have itself, or not any more. */
const WITHOUT_CONTENT: Readonly<Record<string, string>> = {
  external: 'it is kept elsewhere',
  tombstone: 'it was deleted',
  hidden_by_limit: 'it is too old for the plan of the workspace',
  unreadable: 'Slack does not describe it',
};

/** Returns the note for what came with a message and is not a file that can be fetched; null for a file. */
export function wordsFor({ mode, name }: SlackFile): string | null {
  const words = Object.hasOwn(WITHOUT_CONTENT, mode) ? WITHOUT_CONTENT[mode] : undefined;
  if (words === undefined) return null;
  return withheldNote(name == null || name === '' ? 'a file' : `the file ${name}`, words);
}

/** Describes a file to the host. */
export function attachmentOf(file: SlackFile): Attachment {
  const { mimetype, size, name, duration_ms: durationMs } = file;
  return {
    kind: kindOf(file),
    mimeType: mimetype === '' ? null : mimetype,
    sizeBytes: size ?? null,
    name: name ?? null,
    ...(durationMs == null ? {} : { seconds: Math.round(durationMs / 1_000) }),
  };
}

function kindOf({ mimetype, subtype }: SlackFile): Attachment['kind'] {
  if (subtype === 'slack_audio') return 'voice';
  const [kind] = mimetype.split('/', 1);
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document';
}
