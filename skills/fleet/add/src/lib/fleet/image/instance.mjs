// The first program in a container of the fleet, on Node's built-ins: it runs before there is a tree in the volume.
// Words: `start`, `claw …`, `health`, `request`, `activity`. Answers are one line of JSON on stdout.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';

const RELEASE = '/opt/patchclaw/release';
const VOLUME = '/instance';
const TREE = join(VOLUME, 'patchclaw');
const DATA = join(TREE, 'data');
/** Below the 25 s after which the door gives up. */
const REQUEST_MS = 20_000;
const LOOK_MS = 100;

const [word = 'start', ...words] = process.argv.slice(2);
if (word === 'start') process.exitCode = await start();
else if (word === 'claw') process.exitCode = await claw(words);
else if (word === 'health') process.exitCode = (await isUp()) ? 0 : 1;
else if (word === 'request') say(await request(await json(process.stdin)));
else if (word === 'activity') say(activity());
else throw new Error(`unknown word: ${word}`);

/** @param {unknown} value */
function say(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

async function start() {
  await seed();
  // Installs missing packages and finishes a command that was cut short, as before `npm start`.
  const prepared = await run(['scripts/prepare.js'], { npm_lifecycle_event: 'prestart' });
  if (prepared !== 0) return prepared;
  return await run(['src/supervisor/entry.js', '--service']);
}

/** @param {readonly string[]} given */
async function claw(given) {
  await seed();
  return await run(['bin/claw.js', ...given]);
}

/** Puts the image's release into an empty volume. A kill leaves nothing half done: the rename is last. */
async function seed() {
  await mkdir(join(VOLUME, 'home'), { recursive: true, mode: 0o700 });
  if (await isThere(join(TREE, 'package.json'))) return;
  const making = join(VOLUME, 'seeding');
  await rm(making, { recursive: true, force: true });
  const [copied] = await once(spawn('cp', ['-a', RELEASE, making], { stdio: 'inherit' }), 'exit');
  if (copied !== 0) throw new Error('The release cannot be copied into the volume.');
  const code = await run(['bin/claw.js', 'init'], {}, making, 'ignore');
  if (code !== 0) throw new Error('The release in the image cannot be recorded.');
  await rename(making, TREE);
}

/**
 * @param {readonly string[]} args
 * @param {Readonly<Record<string, string>>} env
 */
async function run(
  args,
  env = {},
  cwd = TREE,
  output = /** @type {'inherit' | 'ignore'} */ ('inherit'),
) {
  const child = spawn(process.execPath, args, {
    cwd,
    stdio: ['inherit', output, 'inherit'],
    env: { ...process.env, ...env },
  });
  for (const signal of /** @type {const} */ (['SIGTERM', 'SIGINT', 'SIGHUP'])) {
    process.on(signal, () => child.kill(signal));
  }
  const [code] = await once(child, 'exit');
  return code ?? 1;
}

/**
 * Tells whether the assistant answers: its supervisor, which is up before it, asks it what a typed `/sta` can become,
 * and has no lines while it is not there.
 */
async function isUp() {
  const socket = connect(join(DATA, 'control.sock'));
  try {
    socket.write(`${JSON.stringify({ kind: 'complete', id: 1, typed: '/sta' })}\n`);
    socket.setEncoding('utf8').setTimeout(5_000, () => socket.destroy());
    let said = '';
    for await (const chunk of socket) {
      said += chunk;
      const [, lines] = /"kind":"completions".*?"lines":\[(.*?)\]/.exec(said) ?? [];
      if (lines !== undefined) return lines !== '';
    }
    return false;
  } catch {
    return false; // No socket, or nobody behind it.
  } finally {
    socket.destroy();
  }
}

/**
 * Hands a request from outside to the assistant's own server, which listens in here alone. An assistant that has just
 * been woken answers before its server listens, and its server before each service has its routes.
 *
 * @param {any} wanted method, path, headers and body, in base64
 */
async function request(wanted) {
  const signal = AbortSignal.timeout(REQUEST_MS);
  while (!signal.aborted) {
    const response = await ask(wanted, signal);
    // A sender takes 404 for good.
    const isEarly = response === null || (response.status === 404 && areServicesStarting());
    if (!isEarly) return await answerOf(response);
    await response?.body?.cancel();
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return { status: 503, headers: { 'retry-after': '30' }, body: '' };
}

/**
 * Returns null where no server listens yet.
 *
 * @param {any} wanted
 * @param {AbortSignal} signal
 */
async function ask({ method, path, headers, body }, signal) {
  const address = await readFile(join(DATA, 'http/address'), 'utf8').catch(() => null);
  if (address === null) return null;
  return await fetch(new URL(path, address.trim()), {
    method,
    headers,
    body: method === 'GET' ? null : Buffer.from(body, 'base64'),
    redirect: 'manual',
    signal,
  }).catch((/** @type {any} */ error) => {
    if (signal.aborted || error.cause?.code === 'ECONNREFUSED') return null;
    throw error;
  });
}

/** @param {Response} response */
async function answerOf(response) {
  const type = response.headers.get('content-type');
  return {
    status: response.status,
    headers: type === null ? {} : { 'content-type': type },
    body: Buffer.from(await response.arrayBuffer()).toString('base64'),
  };
}

/** What the assistant has done and has to do. */
function activity() {
  return fromDatabase((one) => ({
    messages: one('SELECT count(*) FROM messages'),
    lastMessageAt: one('SELECT max(stored_at) FROM messages'),
    turns: one('SELECT count(*) FROM turns'),
    open:
      one("SELECT count(*) FROM turns WHERE state IN ('queued', 'claimed', 'resuming')") +
      one("SELECT count(*) FROM outbox WHERE state IN ('queued', 'sending')"),
    waiting: JSON.parse(
      one(`SELECT json_group_array(what) FROM (
        SELECT 'turn ' || id || ' ' || state || ' ' || attempts AS what FROM turns
          WHERE state IN ('queued', 'claimed', 'resuming')
        UNION ALL
        SELECT 'message ' || message_id || ' ' || state || ' ' || attempts FROM outbox
          WHERE state IN ('queued', 'sending'))`),
    ),
    nextTaskAt: one("SELECT min(next_run) FROM tasks WHERE state = 'active'"),
  }));
}

function areServicesStarting() {
  const states = fromDatabase((one) => one("SELECT value FROM meta WHERE key = 'services.states'"));
  return JSON.parse(states ?? '[]').some(
    (/** @type {{ state: string }} */ { state }) => state === 'starting',
  );
}

/**
 * Reads the assistant's database beside it.
 *
 * @template T
 * @param {(one: (sql: string) => any) => T} read
 */
function fromDatabase(read) {
  const Database = createRequire(join(TREE, 'package.json'))('better-sqlite3');
  const database = new Database(join(DATA, 'claw.db'), { readonly: true, fileMustExist: true });
  try {
    return read((sql) => database.prepare(sql).pluck().get());
  } finally {
    database.close();
  }
}

/** @param {string} path */
async function isThere(path) {
  return await stat(path).then(
    () => true,
    () => false,
  );
}
