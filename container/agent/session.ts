import { randomUUID } from 'node:crypto';
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ModelMessage, modelMessageSchema } from 'ai';

/** Older messages stay in the file and are no longer read. */
const MAX_MESSAGES = 200;

/** One conversation, kept as a message a line. */
export class Session {
  readonly id: string;
  readonly messages: readonly ModelMessage[];
  readonly #path: string;

  /** Resumes a conversation; one that is not there, or null, begins anew under an id of its own. */
  static async open(dir: string, id: string | null): Promise<Session> {
    await mkdir(dir, { recursive: true });
    if (id !== null) {
      const path = sessionPath(dir, id);
      const text = await readFile(path, 'utf8').catch(() => null);
      if (text !== null) return new Session(id, path, parseMessages(text));
    }
    const fresh = randomUUID();
    return new Session(fresh, sessionPath(dir, fresh), []);
  }

  private constructor(id: string, path: string, messages: readonly ModelMessage[]) {
    this.id = id;
    this.messages = messages;
    this.#path = path;
  }

  /** Keeps a turn that was answered. A failed one is not kept: it is asked again as a whole. */
  async append(messages: readonly ModelMessage[]): Promise<void> {
    const lines = messages.map((message) => `${JSON.stringify(message)}\n`);
    await appendFile(this.#path, lines.join(''));
  }
}

function sessionPath(dir: string, id: string): string {
  return join(dir, `${id}.jsonl`);
}

/** The newest messages, from one of the user's on: models refuse results of calls they do not see. */
function parseMessages(text: string): ModelMessage[] {
  const all = text.split('\n').flatMap(parseMessage);
  const newest = all.slice(-MAX_MESSAGES);
  const first = newest.findIndex((message) => message.role === 'user');
  return first === -1 ? [] : newest.slice(first);
}

function parseMessage(line: string): ModelMessage[] {
  if (line === '') return [];
  try {
    const parsed = modelMessageSchema.safeParse(JSON.parse(line));
    return parsed.success ? [parsed.data] : [];
  } catch {
    // A line that a crash cut short; the messages around it are whole.
    return [];
  }
}
