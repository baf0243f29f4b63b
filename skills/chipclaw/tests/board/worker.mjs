import { readdirSync, readFileSync } from 'node:fs';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { loadMicroPython } from '@micropython/micropython-webassembly-pyscript';

// A board: MicroPython with the device's own files on its flash. A call to the test stops it until the answer is there,
// as a socket's read stops a board.
const { flag: memory, answers, trees, files, without } = workerData;
const flag = new Int32Array(memory);

const GIVING = new Set(['uart.write', 'tcp.send']);

const python = await loadMicroPython({
  linebuffer: true,
  stdout: (line) => parentPort.postMessage({ kind: 'console', line }),
});
python.registerJsModule('boardlink', {
  call(op, args) {
    Atomics.store(flag, 0, 0);
    const data = GIVING.has(op) ? python.FS.readFile('/tmp/out') : null;
    parentPort.postMessage({ kind: 'call', op, args: JSON.parse(args), data });
    Atomics.wait(flag, 0, 0);
    const { value, taken } = receiveMessageOnPort(answers).message;
    if (taken !== null) python.FS.writeFile('/tmp/in', taken);
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

parentPort.on('message', async ({ id, code }) => {
  try {
    await python.runPythonAsync(code);
    const value = JSON.parse(python.globals.get('result') ?? 'null');
    parentPort.postMessage({ kind: 'result', id, value });
  } catch (error) {
    parentPort.postMessage({ kind: 'result', id, error: String(error) });
  }
});
parentPort.postMessage({ kind: 'ready' });

function copyTree(from, to) {
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = `${entry.parentPath}/${entry.name}`;
    write(to + path.slice(from.length), readFileSync(path));
  }
}

function write(path, data) {
  python.FS.mkdirTree(path.slice(0, path.lastIndexOf('/')) || '/');
  python.FS.writeFile(path, data);
}
