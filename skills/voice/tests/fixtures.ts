import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { clip } from '../../../src/lib/voice/clip.ts';

export { speakable } from '../../../src/channels/kit/speakable.ts';
export { openSpokenAnswers } from '../../../src/channels/kit/spoken-answers.ts';
// What the skill brings is reached through here: the files are there once it is applied.
export { examination } from '../../../src/doctor/voice.ts';
export { filter } from '../../../src/inbound-filters/voice.ts';
export { isSpokenIn, setSpoken } from '../../../src/lib/voice/chats.ts';
export { usedToday } from '../../../src/lib/voice/day-book.ts';
export { readOpus } from '../../../src/lib/voice/opus.ts';
export { runProgram } from '../../../src/lib/voice/program.ts';
export { askServer } from '../../../src/lib/voice/server.ts';
export { speak } from '../../../src/lib/voice/speak.ts';
export { plainWords } from '../../../src/lib/voice/words.ts';
export { section } from '../../../src/prompt/voice.ts';
export { setup } from '../../../src/setup/voice.ts';
export { clip };

export const KEY = 'sk-voice-of-nobody';

/** A request as the server of voices got it: a form's fields, or JSON. */
export type Heard = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly file: Buffer | null;
};

/** An answer in place of the server's own. */
export type Fault = {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Nothing is answered at all. */
  readonly isSilent?: true;
};

/** A server with `/audio/transcriptions`, `/audio/speech` and `/models`, as OpenAI's protocol has them. */
export async function startVoiceServer() {
  const heard: Heard[] = [];
  const faults: Fault[] = [];
  const own = { words: 'what is the weather like', speech: clip() };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = await request.toArray();
    const { headers, url: path = '' } = request;
    const body = Buffer.concat(chunks);
    const type = String(headers['content-type'] ?? '');
    const form = type.startsWith('multipart/')
      ? await new Response(body, { headers: { 'content-type': type } }).formData()
      : null;
    const file = form?.get('file');
    const fields = form === null ? JSON.parse(String(body) || '{}') : Object.fromEntries(form);
    const bytes = file instanceof Blob ? Buffer.from(await file.arrayBuffer()) : null;
    heard.push({ path, headers, fields, file: bytes });
    const fault = faults.shift();
    if (fault?.isSilent) return;
    if (fault !== undefined) {
      response.writeHead(fault.status, fault.headers).end(fault.body ?? '{"error":{}}');
    } else if (headers.authorization !== `Bearer ${KEY}`) {
      response.writeHead(401).end('{"error":{"message":"Incorrect API key"}}');
    } else if (path === '/v1/audio/transcriptions') {
      response.end(JSON.stringify({ text: own.words }));
    } else if (path === '/v1/audio/speech') {
      response.writeHead(200, { 'content-type': 'audio/ogg' }).end(own.speech);
    } else {
      response.writeHead(path === '/v1/models' ? 200 : 404).end('{"data":[]}');
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    heard,
    faults,
    own,
    /** Ends the requests that wait. */
    cut: () => server.closeAllConnections(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A folder for what a test keeps and the programs that it writes. */
export function temporaryFolder() {
  const dir = mkdtempSync(join(tmpdir(), 'claw-voice-test-'));
  return {
    dir,
    /** Writes a program for a shell, and returns its path. */
    program(name: string, script: string): string {
      const path = join(dir, name);
      writeFileSync(path, `#!/bin/sh\n${script}\n`);
      chmodSync(path, 0o755);
      return path;
    },
    file(name: string, content: string | Buffer): string {
      const path = join(dir, name);
      writeFileSync(path, content);
      return path;
    },
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }),
  };
}

/** Waits for nothing, and notes for how long it would have. */
export function notedPauses() {
  const pauses: number[] = [];
  const pause = async (ms: number): Promise<void> => {
    pauses.push(ms);
    await setImmediate();
  };
  return { pauses, pause };
}
