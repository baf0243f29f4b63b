import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import type { Writable } from 'node:stream';

/** A device at the other end of a line: it says lines, and reads what it is sent. */
export class Board {
  readonly lines: string[] = [];
  /** Called with each line. */
  onLine: (line: string) => void = () => {};
  readonly #out: Writable;
  readonly #waiting = new Set<() => void>();
  #rest = '';

  constructor(out: Writable, input: NodeJS.ReadableStream) {
    this.#out = out;
    input.setEncoding('utf8');
    input.on('data', (chunk: string) => {
      const lines = (this.#rest + chunk).split('\n');
      this.#rest = lines.pop() ?? '';
      this.lines.push(...lines);
      for (const line of lines) this.onLine(line);
      for (const look of this.#waiting) look();
    });
  }

  say(text: string | Uint8Array): void {
    this.#out.write(text);
  }

  /** Resolves when so many lines have come. */
  read(count: number): Promise<readonly string[]> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.lines.length < count) return;
        this.#waiting.delete(look);
        resolve(this.lines);
      };
      this.#waiting.add(look);
      look();
    });
  }
}

/** A server that hands a line on over TCP, as ser2net does. Each connection is the device plugged in once more. */
export class LineServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets: Socket[] = [];
  readonly #boards: Board[] = [];
  readonly #waiting: ((board: Board) => void)[] = [];
  /** All that was ever sent to the device. */
  readonly lines: string[] = [];
  readonly #unsaid: (string | Uint8Array)[] = [];
  readonly #reading = new Set<() => void>();
  #present: Board | null = null;
  #lastPort = 0;

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket) => {
      socket.on('error', () => {});
      this.#sockets.push(socket);
      const board = new Board(socket, socket);
      board.onLine = (line) => {
        if (line !== '') this.lines.push(line);
        for (const look of this.#reading) look();
      };
      for (const text of this.#unsaid.splice(0)) board.say(text);
      this.#present = board;
      socket.on('close', () => {
        if (this.#present === board) this.#present = null;
      });
      const next = this.#waiting.shift();
      if (next === undefined) this.#boards.push(board);
      else next(board);
    });
  }

  static async start(port = 0): Promise<LineServer> {
    const server = createServer();
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new LineServer(server);
  }

  get port(): number {
    return this.#server.listening ? (this.#server.address() as AddressInfo).port : this.#lastPort;
  }

  get url(): string {
    return `tcp://127.0.0.1:${this.port}`;
  }

  /** Resolves with the device of the next connection. */
  plugged(): Promise<Board> {
    const board = this.#boards.shift();
    if (board !== undefined) return Promise.resolve(board);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** The device says something now, or once it is plugged in. */
  sayLasting(text: string | Uint8Array): void {
    if (this.#present === null) this.#unsaid.push(text);
    else this.#present.say(text);
  }

  /** Resolves when so many lines have come. */
  read(count: number): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.lines.length < count) return;
        this.#reading.delete(look);
        resolve();
      };
      this.#reading.add(look);
      look();
    });
  }

  /** The device is not there any more. */
  async goDown(): Promise<void> {
    this.#lastPort = this.port;
    await this[Symbol.asyncDispose]();
  }

  async comeUp(): Promise<void> {
    this.#server.listen(this.#lastPort, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  /** Cuts the line, as pulling a plug does. */
  unplug(): void {
    this.#present = null;
    for (const socket of this.#sockets.splice(0)) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.unplug();
    if (!this.#server.listening) return;
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** A board on a pseudo-terminal, which is a serial device to whoever opens it. */
export type PtyBoard = { readonly path: string; readonly board: Board; unplug(): Promise<void> };

/** Tells whether this machine can make one: by `script` of util-linux, and with `stty`. */
export const HAS_PTY = ((): boolean => {
  try {
    execFileSync('script', ['-qec', 'stty raw', '/dev/null'], {
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    return true;
  } catch {
    return false; // Another system, or none of them is installed.
  }
})();

/** Makes a pseudo-terminal. Its master is the board's. */
export async function startPtyBoard(): Promise<PtyBoard> {
  const command = 'stty raw -echo; tty; exec sleep 86400';
  const child: ChildProcess = spawn('script', ['-qefc', command, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  if (child.stdin === null || child.stdout === null) throw new Error('script has no streams');
  const board = new Board(child.stdin, child.stdout);
  const [path = ''] = await board.read(1);
  board.lines.length = 0;
  return {
    path: path.trim(),
    board,
    async unplug() {
      child.kill('SIGKILL');
      await once(child, 'close');
    },
  };
}
