import { randomUUID } from 'node:crypto';
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ModelMessage } from 'ai';
import { NOTHING_SAID, type Note, parseTranscript, type Transcript } from './transcript.ts';

/** The folder of an agent's conversations; it stays when the container ends. */
export const SESSIONS_DIR = '/home/node/.claude/sessions';

/**
 * One conversation and its transcript, a file with a message a line. The file only ever grows: messages stay
 * in it after a summary replaces them.
 */
export class Session {
  readonly id: string;
  /** As it was when the session was opened. */
  readonly conversation: Transcript;
  readonly #path: string;
  /** True if the file ends in the middle of a line, as after a crash. */
  #isCut: boolean;

  /**
   * Resumes a conversation; without an id, or with an unknown one, begins a new conversation under a new id.
   */
  static async open(dir: string, id: string | null): Promise<Session> {
    await mkdir(dir, { recursive: true });
    if (id !== null) {
      const path = sessionPath(dir, id);
      const text = await readFile(path, 'utf8').catch(() => null);
      if (text !== null) return new Session(id, path, text);
    }
    const fresh = randomUUID();
    return new Session(fresh, sessionPath(dir, fresh), '');
  }

  private constructor(id: string, path: string, text: string) {
    this.id = id;
    this.#path = path;
    this.conversation = text === '' ? NOTHING_SAID : parseTranscript(text);
    this.#isCut = text !== '' && !text.endsWith('\n');
  }

  get messages(): readonly ModelMessage[] {
    return this.conversation.said.map(({ message }) => message);
  }

  /**
   * Keeps a turn that was answered. A failed one is not kept: it is asked again as a whole.
   *
   * @param tokens how long the conversation is with it, as the model counted; null when unknown
   */
  async append(messages: readonly ModelMessage[], tokens: number | null): Promise<void> {
    const size: readonly Note[] = tokens === null ? [] : [{ kind: 'size', tokens }];
    await this.#write([...messages, ...size]);
  }

  /** Keeps a summary of what was said before the message `kept` of the opened conversation. */
  async summarise(text: string, kept: number): Promise<void> {
    const { said, lines } = this.conversation;
    await this.#write([{ kind: 'summary', from: said[kept]?.line ?? lines, text }]);
  }

  async #write(entries: readonly (ModelMessage | Note)[]): Promise<void> {
    const text = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
    await appendFile(this.#path, this.#isCut ? `\n${text}` : text);
    this.#isCut = false;
  }
}

function sessionPath(dir: string, id: string): string {
  return join(dir, `${id}.jsonl`);
}
