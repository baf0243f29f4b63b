import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';

const DEVICE = fileURLToPath(new URL('../../../device', import.meta.url));
const LIBRARY = fileURLToPath(new URL('./board/lib', import.meta.url));

type Value = string | number | boolean | null | undefined;
type Arguments = Readonly<Record<string, Value>>;
/** Bytes for the board. */
type Taken = { readonly taken: Buffer | null };
/** A frame of the board's. */
export type Frame = Readonly<Record<string, unknown>>;
type Message =
  | { readonly kind: 'ready' }
  | { readonly kind: 'console'; readonly line: string }
  | {
      readonly kind: 'call';
      readonly op: string;
      readonly args: Arguments;
      readonly data: Uint8Array | null;
    }
  | {
      readonly kind: 'result';
      readonly id: number;
      readonly value?: unknown;
      readonly error?: string;
    };

export type BoardOptions = {
  /** The text of /config.json; an object becomes JSON. */
  readonly config?: unknown;
  /** More files on the flash, by their absolute paths. */
  readonly files?: Readonly<Record<string, string>>;
  /** Modules that this board does not have. */
  readonly without?: readonly ('machine' | 'network' | 'requests' | 'ntptime')[];
};

/** A microcontroller: MicroPython in a thread of its own, whose pins, serial line and network are held here. */
export class Board implements AsyncDisposable {
  /** Lines that it prints by itself. */
  readonly console: string[] = [];
  /** Frames that it has written on its serial line, for the assistant. */
  readonly frames: Frame[] = [];
  /** Lines that it has written there, without frames. */
  readonly lines: string[] = [];
  readonly pins = new Map<number, number>();
  readonly voltages = new Map<number, number>();
  readonly waves = new Map<number, { freq?: Value; duty?: Value }>();
  i2c: readonly number[] = [];
  wifi = { ssid: 'home', password: 'secret', isJoined: false };
  /** Takes what the board writes on its line, beside `lines`. */
  onWritten: (data: Buffer) => void = () => {};
  /** Takes its frames, beside `frames`. */
  onFrame: (frame: Frame) => void = () => {};
  resets = 0;
  readonly #worker: Worker;
  readonly #flag: Int32Array;
  readonly #answers: MessagePort;
  readonly #sockets = new Map<number, Stream>();
  readonly #waiting = new Set<() => void>();
  readonly #results = new Map<number, (message: Message) => void>();
  #uartIn = Buffer.alloc(0);
  #uartRest = '';
  #count = 0;

  private constructor({ config = {}, files = {}, without = [] }: BoardOptions) {
    const memory = new SharedArrayBuffer(4);
    const { port1, port2 } = new MessageChannel();
    this.#flag = new Int32Array(memory);
    this.#answers = port1;
    const text = typeof config === 'string' ? config : JSON.stringify(config);
    this.#worker = new Worker(new URL('./board/worker.ts', import.meta.url), {
      workerData: {
        memory,
        answers: port2,
        trees: [
          [LIBRARY, '/lib'],
          [DEVICE, ''],
        ],
        files: { '/config.json': text, ...files },
        without,
      },
      transferList: [port2],
    });
    this.#worker.on('message', (message: Message) => this.#take(message));
  }

  /** Switches a board on; its programs are there, and do not run yet. */
  static async flash(options: BoardOptions = {}): Promise<Board> {
    const board = new Board(options);
    await once(board.#worker, 'message');
    return board;
  }

  /** Switches a board on, and lets it start its agent. */
  static async start(options: BoardOptions = {}): Promise<Board> {
    const board = await Board.flash(options);
    await board.run(`
import asyncio
from chipclaw.config import Config
from chipclaw.app import App
app = App(Config())
asyncio.create_task(app.run())`);
    return board;
  }

  /** Runs Python on it. The text in `result`, which is JSON, is the value. */
  async run(code: string): Promise<unknown> {
    const id = this.#count++;
    const message = await new Promise<Message>((resolve) => {
      this.#results.set(id, resolve);
      this.#worker.postMessage({ id, code });
    });
    if (message.kind !== 'result') throw new Error('no result');
    if (message.error !== undefined) throw new Error(message.error);
    return message.value;
  }

  /** Evaluates an expression. */
  value(expression: string, imports = ''): Promise<unknown> {
    return this.run(`import json\n${imports}\nresult = json.dumps(${expression})`);
  }

  /** Returns a file of its flash. */
  async file(path: string): Promise<string> {
    return String(await this.value(`open(${JSON.stringify(path)}).read()`));
  }

  /** Writes on its serial line. */
  say(text: string | Uint8Array): void {
    this.#uartIn = Buffer.concat([this.#uartIn, Buffer.from(text)]);
  }

  /** Resolves with its lines when there are so many. */
  async read(count: number): Promise<readonly string[]> {
    await this.until(() => this.lines.length >= count);
    return this.lines;
  }

  /** Says a line, and resolves with the content of the next one that it writes. */
  async ask(text: string): Promise<string> {
    const before = this.lines.length;
    this.say(`${text}\n`);
    const line = (await this.read(before + 1))[before];
    return String(JSON.parse(line ?? '').content);
  }

  /** Resolves when the condition holds; it is looked at whenever the board does something. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!condition()) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** Takes the power away. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const { socket } of this.#sockets.values()) socket.destroy();
    await this.#worker.terminate();
    this.#answers.close();
  }

  #take(message: Message): void {
    if (message.kind === 'console') this.console.push(message.line);
    else if (message.kind === 'result') this.#results.get(message.id)?.(message);
    else if (message.kind === 'call') void this.#answer(message);
    for (const look of this.#waiting) look();
  }

  async #answer({ op, args, data }: Extract<Message, { kind: 'call' }>): Promise<void> {
    const value = (await this.#call(op, args, Buffer.from(data ?? []))) ?? null;
    const isTaken = typeof value === 'object' && value !== null && 'taken' in value;
    const message = isTaken
      ? { value: { hasData: value.taken !== null }, taken: value.taken }
      : { value, taken: null };
    this.#answers.postMessage(message);
    Atomics.store(this.#flag, 0, 1);
    Atomics.notify(this.#flag, 0);
  }

  #call(op: string, args: Arguments, data: Buffer): unknown {
    const pin = Number(args['pin']);
    switch (op) {
      case 'pin.read':
        return this.pins.get(pin) ?? 0;
      case 'pin.write':
        return void this.pins.set(pin, Number(args['value']));
      case 'adc':
        return this.voltages.get(pin) ?? 0;
      case 'pwm':
        return void this.waves.set(pin, { ...this.waves.get(pin), ...args });
      case 'i2c':
        return this.i2c;
      case 'wifi.connect':
        this.wifi.isJoined =
          args['ssid'] === this.wifi.ssid && args['password'] === this.wifi.password;
        return;
      case 'wifi.isconnected':
        return this.wifi.isJoined;
      case 'reset':
        this.resets += 1;
        return;
      case 'uart.any':
        return this.#uartIn.length;
      case 'uart.read':
        return this.#readLine();
      case 'uart.write':
        return this.#written(data);
      default:
        return op.startsWith('tcp.') ? this.#tcp(op, args, data) : undefined;
    }
  }

  #readLine(): Taken {
    const taken = this.#uartIn;
    this.#uartIn = Buffer.alloc(0);
    return { taken };
  }

  #written(data: Buffer): void {
    const lines = (this.#uartRest + data.toString('latin1')).split('\n');
    this.#uartRest = lines.pop() ?? '';
    for (const line of lines) this.#writtenLine(Buffer.from(line, 'latin1').toString());
    this.onWritten(data);
  }

  #writtenLine(line: string): void {
    if (!line.includes('"frame"')) {
      this.lines.push(line);
      return;
    }
    const frame: Frame = JSON.parse(line);
    this.frames.push(frame);
    this.onFrame(frame);
  }

  async #tcp(op: string, args: Arguments, data: Buffer): Promise<unknown> {
    if (op === 'tcp.connect') {
      const stream = new Stream(
        connect({ host: String(args['host']), port: Number(args['port']) }),
      );
      const error = await stream.connected();
      if (error !== null) return { error };
      const id = this.#count++;
      this.#sockets.set(id, stream);
      return { id };
    }
    const id = Number(args['id']);
    const stream = this.#sockets.get(id);
    if (stream === undefined) return { error: 'closed' };
    if (op === 'tcp.send') return stream.send(data);
    if (op === 'tcp.receive') return stream.receive(args);
    stream.socket.destroy();
    this.#sockets.delete(id);
  }
}

/** A TCP connection with the reads of MicroPython: they wait for all that is asked for, or the end. */
class Stream {
  readonly socket: Socket;
  #data = Buffer.alloc(0);
  #isEnded = false;
  #changed: () => void = () => {};

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#data = Buffer.concat([this.#data, chunk]);
      this.#changed();
    });
    const end = (): void => {
      this.#isEnded = true;
      this.#changed();
    };
    socket.on('end', end).on('close', end).on('error', end);
  }

  connected(): Promise<string | null> {
    return new Promise((resolve) => {
      this.socket.once('connect', () => resolve(null));
      this.socket.once('error', ({ message }) => resolve(message));
    });
  }

  send(data: Buffer): object {
    if (this.socket.destroyed) return { error: 'ECONNRESET' };
    this.socket.write(data);
    return {};
  }

  async receive({
    count,
    isLine,
    timeout,
  }: Arguments): Promise<Taken | { readonly error: string }> {
    const wanted = (): number => {
      if (isLine === true) return this.#data.indexOf(10) + 1 || Number.POSITIVE_INFINITY;
      return Number(count) < 0 ? Number.POSITIVE_INFINITY : Number(count);
    };
    const isThere = (): boolean => this.#isEnded || this.#data.length >= wanted();
    if (!isThere() && timeout !== 0 && !(await this.#wait(isThere, timeout))) {
      return { error: 'ETIMEDOUT' };
    }
    if (!isThere() && this.#data.length === 0) return { taken: null };
    const end = Math.min(wanted(), this.#data.length);
    const taken = this.#data.subarray(0, end);
    this.#data = this.#data.subarray(end);
    return { taken };
  }

  #wait(isThere: () => boolean, timeout: Value): Promise<boolean> {
    return new Promise((resolve) => {
      const timer =
        typeof timeout === 'number' ? setTimeout(() => resolve(false), timeout * 1000) : undefined;
      this.#changed = () => {
        if (!isThere()) return;
        clearTimeout(timer);
        resolve(true);
      };
    });
  }
}
