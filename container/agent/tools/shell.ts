import { type ChildProcess, spawn } from 'node:child_process';
import { z } from 'zod';
import { defineTool } from '../agent-tool.ts';

const TIME_LIMIT_MS = 120_000;
const MAX_OUTPUT_BYTES = 65_536;

export const tool = defineTool({
  name: 'shell',
  repeat: 'once',
  brings: 'files',
  doing: 'running a command',
  description:
    'Runs a shell command in /workspace/group and returns its output, cut at 64 KB. It ends after 120 s, or the limit that the owner has set.',
  input: z.object({ command: z.string() }),
  async run({ command }, { signal, shellTimeoutMs = TIME_LIMIT_MS }) {
    // A process group of its own, so that whatever the command starts ends with it.
    const child = spawn('sh', ['-c', command], {
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = collectOutput(child);
    const end = () => killGroup(child);
    signal.addEventListener('abort', end);
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      end();
    }, shellTimeoutMs);
    try {
      const exitCode = await ended(child);
      const late = `timeout: killed after ${shellTimeoutMs / 1_000} s`;
      const killed = signal.aborted ? 'killed, as the turn was stopped' : 'killed';
      const how = exitCode === null ? (isLate ? late : killed) : `exit code ${exitCode}`;
      return `${output()}\n[${how}]`.trimStart();
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
    }
  },
});

function collectOutput(child: ChildProcess): () => string {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  const take = (chunk: Buffer) => {
    if (sizeBytes < MAX_OUTPUT_BYTES) chunks.push(chunk.subarray(0, MAX_OUTPUT_BYTES - sizeBytes));
    sizeBytes += chunk.length;
  };
  child.stdout?.on('data', take);
  child.stderr?.on('data', take);
  return () => {
    const cut = sizeBytes > MAX_OUTPUT_BYTES ? `\n[cut: ${sizeBytes} bytes in all]` : '';
    return `${Buffer.concat(chunks).toString().trimEnd()}${cut}`;
  };
}

/**
 * Resolves with the command itself, with its exit code, or null where it was killed: something it left in the background
 * may keep the output open.
 */
function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (exitCode, signal) => {
      const drained = setTimeout(() => child.emit('drained'), 200);
      child.once('close', () => child.emit('drained'));
      child.once('drained', () => {
        clearTimeout(drained);
        resolve(signal === 'SIGKILL' ? null : (exitCode ?? -1));
      });
    });
  });
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It ended by itself in the same moment.
  }
}
