import { NEWS_MARK } from './ssh-messages.ts';

/** The oldest Node that the packed worker runs on. */
export const MIN_NODE = '22.12';

/**
 * The program that a machine runs before it has the worker: an old Node must understand it. It takes the worker from its
 * input, byte for byte, and hands the rest of the input on to it. A worker that did not come whole is never in its place.
 */
export const FIRST_STEP = `
const fs = require('fs'), path = require('path'), child = require('child_process');
const [, , , digest, size] = process.argv;
const say = (news) => fs.writeSync(1, '${NEWS_MARK}' + JSON.stringify(news) + '\\n');
const fail = (text) => { say({ kind: 'problem', text }); process.exit(1); };
const [major, minor] = process.versions.node.split('.').map(Number);
if (major * 100 + minor < ${MIN_NODE.replace('.', '')}) {
  fail('Node there is ' + process.versions.node + ', and the worker needs ${MIN_NODE} or newer. Install a newer one, and run this command again.');
}
const programs = path.join(process.env.PATCHCLAW_WORKER_DIR || path.join(require('os').homedir(), '.local/share/patchclaw-worker'), 'programs');
const place = path.join(programs, digest);
try {
  fs.mkdirSync(programs, { recursive: true });
  const isThere = fs.existsSync(place);
  const disk = fs.statfsSync(programs);
  say({ kind: 'hello', node: process.versions.node, free: disk.bavail * disk.bsize, isThere });
  if (!isThere) {
    const bytes = Buffer.alloc(Number(size));
    for (let at = 0; at < bytes.length; ) {
      const count = fs.readSync(0, bytes, at, bytes.length - at);
      if (count === 0) process.exit(1);
      at += count;
    }
    const fresh = fs.mkdtempSync(path.join(programs, 'new-'));
    try {
      child.execFileSync('tar', ['-xzf', '-', '-C', fresh, '--strip-components=1'], { input: bytes, stdio: ['pipe', 'ignore', 'pipe'] });
      fs.renameSync(fresh, place);
    } finally {
      fs.rmSync(fresh, { recursive: true, force: true });
    }
  }
} catch (error) {
  fail('The worker could not be written to ' + programs + ' there: ' + String(error.message).slice(0, 500));
}
const { status } = child.spawnSync(process.execPath, [path.join(place, 'worker.mjs'), 'ssh-setup'], { stdio: 'inherit' });
process.exit(status === null ? 1 : status);
`;
