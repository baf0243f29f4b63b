import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type JSONRPCMessage, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import { JsonCount } from '../../lib/bounded-json.ts';
import type { Program } from '../../lib/program.ts';

/** A longer message ends the connection: no model could be shown it, and memory is limited. */
export const MAX_MESSAGE_BYTES = 16 * 1_048_576;
/** The library says of each value what is wrong with it: many thousand wrong ones would stop all chats for seconds. */
export const MESSAGE_COUNT = { maxValues: 50_000, maxDepth: Number.POSITIVE_INFINITY };
export const TOO_MANY_PARTS = 'more than 50,000 values';
/** Servers print a banner at times; one that goes on so speaks another protocol. */
const MAX_GARBAGE_LINES = 20;
const LAST_WORDS_BYTES = 2_000;
/** Of what a server says in this time, more waits in its pipe: no server takes the time of the chats. */
const BURST_MS = 1_000;
const MAX_LINES = 1_000;

/** The time, and a way to be called later. */
export type TransportClock = {
  readonly now: () => number;
  readonly setTimer: (delayMs: number, callback: () => void) => () => void;
};

/** The messages of a server on its standard streams, one JSON text a line. */
export class ProgramTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #start: () => Promise<Program>;
  readonly #clock: TransportClock;
  #program: Program | null = null;
  #burst = { since: 0, lines: 0 };
  #cancelResume = (): void => {};
  #chunks: Buffer[] = [];
  #sizeBytes = 0;
  #garbage = 0;
  #lastWords = '';
  #end: string | null = null;

  constructor(start: () => Promise<Program>, clock: TransportClock) {
    this.#start = start;
    this.#clock = clock;
  }

  /** Why the connection ended, as the rest of a sentence; null while it lasts. */
  get end(): string | null {
    return this.#end;
  }

  async start(): Promise<void> {
    const program = await this.#start();
    this.#program = program;
    program.stdout.on('data', (chunk: Buffer) => this.#take(chunk));
    program.stderr.on('data', (chunk: Buffer) => {
      this.#lastWords = `${this.#lastWords}${chunk}`.slice(-LAST_WORDS_BYTES);
    });
    void program.ended.then((reason) => this.#ended(`ended: ${this.#withWords(reason)}`));
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#program?.stdin;
    if (stdin === undefined || this.#end !== null) throw new Error('The server does not run.');
    if (stdin.writableLength > MAX_MESSAGE_BYTES) {
      this.#break('does not read what it is told, and was stopped');
      throw new Error('The server does not read.');
    }
    const line = `${JSON.stringify(message)}\n`;
    await new Promise<void>((resolve, reject) =>
      stdin.write(line, (error) => (error ? reject(error) : resolve())),
    );
  }

  async close(): Promise<void> {
    this.#ended('was closed');
    await this.#program?.stop();
  }

  #take(chunk: Buffer): void {
    if (this.#end !== null) return;
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      this.#add(chunk.subarray(from, at));
      from = at + 1;
      const line = Buffer.concat(this.#chunks);
      this.#chunks = [];
      this.#sizeBytes = 0;
      if (new JsonCount(MESSAGE_COUNT).add(line) === null) this.#takeLine(line.toString());
      else this.#break(`sent a message of ${TOO_MANY_PARTS}, and was stopped`);
    }
    this.#add(chunk.subarray(from));
  }

  #add(part: Buffer): void {
    this.#sizeBytes += part.length;
    if (this.#sizeBytes <= MAX_MESSAGE_BYTES) this.#chunks.push(part);
    else this.#break('sent a message longer than 16 MB, and was stopped');
  }

  #takeLine(line: string): void {
    if (this.#end !== null || line.trim() === '') return;
    this.#countLine();
    const message = parse(line);
    if (message !== null) {
      this.onmessage?.(message);
      return;
    }
    this.#garbage += 1;
    if (this.#garbage > MAX_GARBAGE_LINES) {
      this.#break(
        `does not speak MCP, and was stopped; it said ${JSON.stringify(line.slice(0, 80))}`,
      );
    }
  }

  /** Leaves the rest of a burst in the pipe for a while. */
  #countLine(): void {
    const { now, setTimer } = this.#clock;
    if (now() - this.#burst.since > BURST_MS) this.#burst = { since: now(), lines: 0 };
    this.#burst.lines += 1;
    if (this.#burst.lines !== MAX_LINES) return;
    const stdout = this.#program?.stdout;
    stdout?.pause();
    this.#cancelResume = setTimer(BURST_MS, () => {
      this.#burst.lines = 0;
      stdout?.resume();
    });
  }

  #break(reason: string): void {
    this.#chunks = [];
    this.#ended(reason);
    void this.#program?.stop();
  }

  #ended(reason: string): void {
    if (this.#end !== null) return;
    this.#end = reason;
    this.#cancelResume();
    this.onclose?.();
  }

  #withWords(reason: string): string {
    const last = this.#lastWords.trim().split('\n').at(-1)?.slice(0, 200) ?? '';
    return last === '' || reason.includes(last) ? reason : `${reason}, ${last}`;
  }
}

function parse(line: string): JSONRPCMessage | null {
  try {
    return JSONRPCMessageSchema.parse(JSON.parse(line));
  } catch {
    return null; // A banner, or half a message: it is counted.
  }
}
