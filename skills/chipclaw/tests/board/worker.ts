import { readdirSync, readFileSync } from 'node:fs';
import {
  type MessagePort,
  parentPort,
  receiveMessageOnPort,
  workerData,
} from 'node:worker_threads';

// A board: MicroPython with the device's own files on its flash. A call to the test stops it until the answer is there,
// as a socket's read stops a board.

type Python = {
  readonly FS: {
    readFile(path: string): Uint8Array;
    writeFile(path: string, data: string | Uint8Array): void;
    mkdirTree(path: string): void;
    unlink(path: string): void;
  };
  readonly globals: { get(name: string): string | undefined };
  registerJsModule(name: string, module: object): void;
  runPython(code: string): void;
  runPythonAsync(code: string): Promise<unknown>;
};
type Data = {
  readonly memory: SharedArrayBuffer;
  readonly answers: MessagePort;
  readonly trees: readonly (readonly [from: string, to: string])[];
  readonly files: Readonly<Record<string, string>>;
  readonly without: readonly string[];
};
/** Calls that come with bytes. */
const GIVING = new Set(['uart.write', 'tcp.send']);
// It brings no types.
const PACKAGE: string = '@micropython/micropython-webassembly-pyscript';

const { memory, answers, trees, files, without }: Data = workerData;
const flag = new Int32Array(memory);
const post = (message: object): void => parentPort?.postMessage(message);

const { loadMicroPython } = await import(PACKAGE);
const python: Python = await loadMicroPython({
  linebuffer: true,
  stdout: (line: string) => post({ kind: 'console', line }),
});
python.registerJsModule('boardlink', {
  /** Ends the call into WebAssembly: garbage is collected there between two calls alone. */
  collect: () => new Promise((resolve) => setImmediate(resolve)),
  call(op: string, args: string): string {
    Atomics.store(flag, 0, 0);
    const data = GIVING.has(op) ? python.FS.readFile('/tmp/out') : null;
    post({ kind: 'call', op, args: JSON.parse(args), data });
    Atomics.wait(flag, 0, 0);
    const { value, taken } = receiveMessageOnPort(answers)?.message ?? {};
    if (taken) python.FS.writeFile('/tmp/in', taken);
    return JSON.stringify(value);
  },
});
for (const [from, to] of trees) copyTree(from, to);
for (const [path, text] of Object.entries(files)) write(path, text);
for (const name of without) python.FS.unlink(`/lib/${name}.py`);
python.runPython(`
import sys
sys.path.insert(0, "/")
class Gauge:
    """gc, with the most that was in use when the code asked for a collection."""
    import gc as real
    peak = 0
    def collect(self):
        self.peak = max(self.peak, self.real.mem_alloc())
        self.real.collect()
    def mem_free(self):
        return self.real.mem_free()
    def mem_alloc(self):
        return self.real.mem_alloc()
gauge = Gauge()
sys.modules["gc"] = gauge
`);

parentPort?.on('message', async ({ id, code }: { readonly id: number; readonly code: string }) => {
  try {
    await python.runPythonAsync(code);
    const value: unknown = JSON.parse(python.globals.get('result') ?? 'null');
    post({ kind: 'result', id, value });
  } catch (error) {
    post({ kind: 'result', id, error: String(error) });
  }
});
post({ kind: 'ready' });

function copyTree(from: string, to: string): void {
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = `${entry.parentPath}/${entry.name}`;
    write(to + path.slice(from.length), readFileSync(path));
  }
}

function write(path: string, data: string | Uint8Array): void {
  python.FS.mkdirTree(path.slice(0, path.lastIndexOf('/')) || '/');
  python.FS.writeFile(path, data);
}
