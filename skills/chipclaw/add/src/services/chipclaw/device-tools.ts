import { z } from 'zod';
import type { Tool, ToolCall } from '../../host/contracts/tool.ts';
import { type Device, textOf } from './device.ts';
import { digestOf, MAX_FILE_BYTES, pullFile, pushFile } from './files.ts';

/** So much of a file is put before the owner; the rest they find where it comes from. */
const SHOWN_CHARS = 12_000;

/** The chats whose agents have the tools: the owner's own, or the groups with these folders. */
export type Reach = { readonly isMainOnly: boolean; readonly folders?: readonly string[] };

/** Reads a file of a chat's folder; null where there is none. */
export type ReadGroupFile = (folder: string, path: readonly string[]) => Promise<string | null>;

const Arguments = z.record(z.string(), z.unknown());
const Path = z.string().min(2).max(200).describe('Absolute path on the board, such as /main.py');

/** Names of the tools below, which a device cannot take. */
const OURS = ['push_file', 'pull_file', 'reset'];

/** Returns the tools of a device that is there: its own, and those for its files. */
export function toolsOf(
  device: Device,
  reach: Reach,
  readGroupFile: ReadGroupFile,
): readonly Tool[] {
  const { present } = device;
  if (present === null) return [];
  const announced = present.tools.filter(({ name }) => !OURS.includes(name));
  const own = announced.map(
    ({ name, description, parameters }): Tool => ({
      ...reach,
      name: `${device.name}__${name}`,
      description: `On the device "${device.name}": ${description}`,
      doing: `using ${device.name}`,
      repeat: 'once',
      brings: 'outside',
      input: Arguments,
      inputSchema: parameters,
      run: async ({ signal }, input) =>
        textOf(await device.call(name, Arguments.parse(input), signal)),
    }),
  );
  return [
    ...own,
    pushTool(device, reach, readGroupFile),
    pullTool(device, reach),
    resetTool(device, reach),
  ];
}

function pushTool(device: Device, reach: Reach, readGroupFile: ReadGroupFile): Tool {
  const input = z.object({
    path: Path,
    content: z.string().optional().describe('The whole text; or name a file in from'),
    from: z.string().optional().describe('A text file of this chat, below /workspace/group'),
  });
  return {
    ...reach,
    name: `${device.name}__push_file`,
    description:
      `Puts a text file or a program onto the device "${device.name}", in place of the one there, once the owner ` +
      'has said yes. It is checked by its digest: the board has all of it, or the old one.',
    doing: `writing to ${device.name}`,
    repeat: 'once',
    brings: 'outside',
    input,
    async run(call, given) {
      const { path, content, from } = input.parse(given);
      if ((content === undefined) === (from === undefined))
        throw new Error('Give content or from.');
      const text = content ?? (await textFrom(call, from ?? '', readGroupFile));
      const bytes = Buffer.from(text);
      if (bytes.length > MAX_FILE_BYTES) throw new Error(`${path} would have over 1 MB.`);
      const sha256 = digestOf(bytes);
      const { word } = await call.ask({
        text: `${call.caller.name} wants to write ${path} (${bytes.length} bytes) on the device ${device.name}.`,
        payload: {
          path,
          sha256,
          content: text.slice(0, SHOWN_CHARS),
          isCut: text.length > SHOWN_CHARS,
        },
        what: `writing ${path} on ${device.name}`,
      });
      if (word !== 'yes') throw new Error('The owner has not said yes. Nothing was written.');
      await pushFile(device, { path, bytes }, call.signal);
      return `${path} is on ${device.name}: ${bytes.length} bytes, SHA-256 ${sha256}.`;
    },
  };
}

async function textFrom(
  { caller }: ToolCall,
  from: string,
  readGroupFile: ReadGroupFile,
): Promise<string> {
  const path = from.replace(/^\/workspace\/group\//, '').split('/');
  const text = path.includes('..') ? null : await readGroupFile(caller.folder, path);
  if (text === null) throw new Error(`This chat has no text file ${from} of at most 1 MB.`);
  return text;
}

function pullTool(device: Device, reach: Reach): Tool {
  const input = z.object({ path: Path });
  return {
    ...reach,
    name: `${device.name}__pull_file`,
    description: `Reads a whole text file of the device "${device.name}", checked by its digest.`,
    doing: `reading from ${device.name}`,
    repeat: 'harmless',
    brings: 'outside',
    input,
    async run({ signal }, given) {
      const { path } = input.parse(given);
      const bytes = await pullFile(device, path, signal);
      try {
        return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
      } catch {
        return `${path} is not text: ${bytes.length} bytes, SHA-256 ${digestOf(bytes)}.`;
      }
    },
  };
}

function resetTool(device: Device, reach: Reach): Tool {
  return {
    ...reach,
    name: `${device.name}__reset`,
    description: `Starts the device "${device.name}" anew, so that files that were pushed take effect.`,
    doing: `restarting ${device.name}`,
    repeat: 'once',
    brings: 'outside',
    input: z.object({}),
    async run({ signal }) {
      await device.call('_reset', {}, signal);
      return `${device.name} starts anew. Its tools come back when it has.`;
    },
  };
}
