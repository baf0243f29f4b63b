import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { cutResult } from '../../lib/cut-text.ts';
import { MEDIA_DIR, mediaFolder } from '../../sandbox/sandbox.ts';

/** Longer files of a result are left out. */
const MAX_FILE_BYTES = 10 * 1_048_576;
const MAX_BLOCKS = 1_000;

const Resource = z.looseObject({
  uri: z.string(),
  mimeType: z.string().optional(),
  text: z.string().optional(),
  blob: z.string().optional(),
});

const Block = z.union([
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.enum(['image', 'audio']), data: z.string(), mimeType: z.string() }),
  z.looseObject({ type: z.literal('resource'), resource: Resource }),
  z.looseObject({ type: z.literal('resource_link'), uri: z.string(), name: z.string().optional() }),
]);

/** A result as servers send it. Blocks are looked at one by one: one of a newer protocol spoils no other. */
export const CallResult = z.looseObject({
  content: z.array(z.unknown()).optional(),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});

/** The place for files of a result: the media folder of the group whose agent called. */
export type Shelf = { readonly dataDir: string; readonly folder: string };

/**
 * Turns a server's result into what the agent is told. Pictures and other files are put where it can read them.
 *
 * @throws Error with the server's words where it reports a failure
 */
export function agentResult(result: z.output<typeof CallResult>, shelf: Shelf): unknown {
  const { content = [], structuredContent, isError } = result;
  const texts = content.slice(0, MAX_BLOCKS).map((block) => textOf(block, shelf));
  const text = texts.join('\n');
  if (isError === true) throw new Error(String(cutResult(text === '' ? 'The tool failed.' : text)));
  // Its text is the same once more, for clients that know no structure.
  if (structuredContent === undefined || structuredContent === null) return cutResult(text);
  const files = texts.filter((_, index) => Object(content[index]).type !== 'text');
  return cutResult(files.length === 0 ? structuredContent : { result: structuredContent, files });
}

function textOf(block: unknown, shelf: Shelf): string {
  const { data } = Block.safeParse(block);
  if (data === undefined) return '[a part of the result has a type that is not known here]';
  if (data.type === 'text') return data.text;
  if (data.type === 'resource_link')
    return `[resource ${data.name ?? ''} ${data.uri}]`.replace('  ', ' ');
  if (data.type !== 'resource') return shelve(data.data, data.mimeType, shelf);
  const { uri, mimeType, text, blob } = data.resource;
  if (text !== undefined) return `[resource ${uri}]\n${text}`;
  return blob === undefined
    ? `[resource ${uri}]`
    : shelve(blob, mimeType ?? 'application/octet-stream', shelf);
}

const ENDINGS: Readonly<Record<string, string>> = {
  'image/jpeg': 'jpg',
  'image/svg+xml': 'svg',
  'audio/mpeg': 'mp3',
  'text/plain': 'txt',
};

/** Writes a file for the agent. Only the host writes in that folder, so no link can be in the way. */
function shelve(base64: string, mimeType: string, { dataDir, folder }: Shelf): string {
  const bytes = Buffer.from(base64, 'base64');
  const size = `${Math.ceil(bytes.length / 1024)} KB`;
  if (bytes.length > MAX_FILE_BYTES) return `[${mimeType}, ${size}: larger than 10 MB, left out]`;
  const [ending = 'bin'] = /(?<![a-z0-9])[a-z0-9]+$/.exec(mimeType) ?? [];
  const name = `mcp-${randomUUID()}.${ENDINGS[mimeType] ?? ending.slice(0, 8)}`;
  const path = join(mediaFolder(dataDir, folder), name);
  mkdirSync(dirname(dirname(path)), { recursive: true, mode: 0o700 });
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
  chmodSync(path, 0o644);
  return `[${mimeType}, ${size}: ${MEDIA_DIR}/${name}]`;
}
