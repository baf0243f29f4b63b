import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { z } from 'zod';

/** A message that the assistant sent. One that came twice under the same id is one. */
export type Heard = { readonly room: string; readonly text: string };

/** The far end of the channel `raven`: it keeps each letter until the assistant has stored it. */
export type Tower = {
  readonly url: string;
  readonly heard: readonly Heard[];
  /** Called after each new letter of the assistant's. */
  onHeard: (letter: Heard) => void;
  say(room: string, text: string): void;
  close(): void;
};

const Sent = z.object({ id: z.string(), room: z.string(), text: z.string() });

/** Starts it on loopback. */
export async function startTower(): Promise<Tower> {
  const waiting = new Map<string, string>();
  const heard = new Map<string, Heard>();
  const list: Heard[] = [];
  const readers = new Set<ServerResponse>();
  const tower = { onHeard: (_: Heard): void => {} };
  let count = 0;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      response.flushHeaders();
      for (const line of waiting.values()) response.write(line);
      readers.add(response);
      response.once('close', () => readers.delete(response));
      return;
    }
    if (request.method === 'DELETE') {
      waiting.delete(decodeURIComponent(request.url?.split('/').at(-1) ?? ''));
    } else {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const letter = Sent.parse(JSON.parse(Buffer.concat(chunks).toString()));
      if (!heard.has(letter.id)) {
        heard.set(letter.id, letter);
        list.push(letter);
        tower.onHeard(letter);
      }
    }
    response.writeHead(204).end();
  }

  const server = createServer((request, response) => {
    // The assistant was killed in the middle: it sends the letter again.
    serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = z.object({ port: z.number() }).parse(server.address());
  return Object.assign(tower, {
    url: `http://127.0.0.1:${port}`,
    heard: list,
    say(room: string, text: string) {
      count += 1;
      const id = `letter-${count}`;
      const letter = { id, room, from: 'ada', isPrivate: true, text, at: Date.now() };
      const line = `${JSON.stringify(letter)}\n`;
      waiting.set(id, line);
      for (const reader of readers) reader.write(line);
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  });
}
