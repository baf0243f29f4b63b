import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createUser, fromPublic } from '@nats-io/nkeys';
import { z } from 'zod';
import { joinCode } from './join-code.ts';

/** A name that can be part of a subject, a path and a sentence. */
export const MachineName = z.string().regex(/^[a-z0-9][a-z0-9-]{0,30}$/);
/** A code that nobody has used is void after so long. */
const CODE_MINUTES = 15;
// Each machine knows this one certificate by its code, whatever its clock says: one that is a day behind must join, too.
const CERTIFICATE_START = '20200101000000Z';
const CERTIFICATE_END = '20491231235959Z';

/** After so long without it, a machine that was cut off starts anew. */
const CUT_OFF_MEMORY_MS = 86_400_000;
const MOST_MINUTES_CUT_OFF = 60;

/** The owner's command may dial another machine. */
const APPLY_TIMEOUT_MS = 30_000;
/** A code holds up to 4,000 letters of it, without its line breaks. */
const MAX_CERTIFICATE_CHARS = 4_000;

const Key = z.string().regex(/^U[A-Z2-7]{55}$/);

/** The name of an engine; only the machine knows a list of them. */
export const EngineName = z.string().regex(/^[a-z0-9-]{1,64}$/);

const State = z.object({
  /** The address under which other machines reach this one. */
  host: z.string(),
  port: z.number().int(),
  homeSeed: z.string(),
  machines: z
    .array(
      z.object({
        name: MachineName,
        key: Key,
        isDraining: z.boolean(),
        /** It sent more than a worker has reason to: until when nothing of it is heard, and how often so far. */
        cutOff: z
          .object({ untilMs: z.number(), times: z.number().int().positive() })
          .nullable()
          .default(null),
        /** The engine that the owner lets it use although agents ran in a better one; until the machine has heard it. */
        mayUse: EngineName.nullable().default(null),
      }),
    )
    .max(100),
  /** Codes that were printed and not used; each has a key of its own that can do nothing but enrol. */
  pending: z.array(z.object({ name: MachineName, key: Key, untilMs: z.number() })).max(20),
  /** The command by which a server of the owner's own takes the list of keys; null where the assistant runs one. */
  apply: z.string().min(1).nullable().default(null),
  /** The image of the server that the assistant runs in Docker; null where it is a program of this machine. */
  image: z.string().min(1).nullable().default(null),
});
type State = z.output<typeof State>;
type KnownMachine = State['machines'][number];

/** A server that the owner runs. */
export type OwnServer = {
  readonly host: string;
  readonly port: number;
  /** The certificate that the server shows or that signed it, in PEM; empty where the system trusts it. */
  readonly authority: string;
  /** A command of the shell that gives the server the file `$1` and has it read its settings again. */
  readonly apply: string;
};

/** Why something cannot be done, as a sentence for the owner. */
export class FarRefused extends Error {
  override readonly name = 'FarRefused';
}

/** The machines of this installation, as they are kept in `data/far`, and the server's file made of them. */
export class FarState {
  readonly dir: string;

  constructor(dataDir: string) {
    this.dir = join(dataDir, 'far');
  }

  get isSetUp(): boolean {
    return existsSync(this.#path);
  }

  /** Reads it anew each time: others write it, too. @throws FarRefused where nothing is set up */
  read(): State {
    if (!this.isSetUp) {
      throw new FarRefused('No machine can join yet: run `npx claw far setup` first.');
    }
    return State.parse(JSON.parse(readFileSync(this.#path, 'utf8')));
  }

  /** Makes keys and a certificate for this address, and the server's file. What is there already stays. */
  async setUp(host: string, port: number, image: string | null = null): Promise<void> {
    this.#makeFolder();
    await this.#makeCertificate(host);
    this.#writeAnew({ host, port, apply: null, image });
  }

  /** Uses a server that the owner runs. What is there already stays. @throws FarRefused for a certificate that is none */
  setUpOwnServer({ host, port, authority, apply }: OwnServer): void {
    this.#makeFolder();
    replace(join(this.dir, 'server.pem'), authority === '' ? '' : oneCertificate(authority));
    this.#writeAnew({ host, port, apply, image: null });
  }

  /** Returns a code with which one machine of that name can join, once. */
  add(name: string, nowMs: number): string {
    checkName(name);
    const state = this.read();
    if (state.machines.some((one) => one.name === name)) throw new FarRefused(joinedAlready(name));
    const user = createUser();
    const pending = {
      name,
      key: user.getPublicKey(),
      untilMs: nowMs + CODE_MINUTES * 60_000,
    };
    const others = state.pending.filter((one) => one.name !== name && one.untilMs > nowMs);
    this.#write({ ...state, pending: [...others, pending] });
    this.reload();
    const { host, port } = state;
    return joinCode.write({
      name,
      host,
      port,
      seed: seedOf(user),
      certificate: this.certificate(),
    });
  }

  /**
   * Lets a machine in that has shown a code of that name. Returns false for a code that was used or is too old, and for
   * a key that somebody has: the server takes no file that names one twice, so nobody could be taken out any more.
   */
  enrol(name: string, key: string, nowMs: number): boolean {
    const state = this.read();
    const pending = state.pending.find((one) => one.name === name);
    if (pending === undefined || pending.untilMs < nowMs || !isNewKey(state, key)) return false;
    this.#letIn(state, name, key);
    return true;
  }

  /**
   * Lets a machine in by its key, which the owner has from the machine itself. Once it is in, nothing changes.
   *
   * @throws FarRefused where the name or the key is another machine's
   */
  admit(name: string, key: string): void {
    checkName(name);
    const state = this.read();
    const known = state.machines.find((one) => one.name === name);
    if (known?.key === key) return;
    if (known !== undefined) throw new FarRefused(joinedAlready(name));
    const sameKey = state.machines.find((one) => one.key === key);
    if (sameKey !== undefined) {
      throw new FarRefused(
        `This machine has joined already, as ${sameKey.name}. Take that name, or say \`/far remove ${sameKey.name}\` first.`,
      );
    }
    if (!isNewKey(state, key)) throw new FarRefused('That is no key of a machine.');
    this.#letIn(state, name, key);
    this.reload();
  }

  #letIn(state: State, name: string, key: string): void {
    this.#write({
      ...state,
      machines: [...state.machines, { name, key, isDraining: false, cutOff: null, mayUse: null }],
      pending: state.pending.filter((one) => one.name !== name),
    });
  }

  /** Takes a machine out: the server disconnects it at once. Returns false for a name that is not known. */
  remove(name: string): boolean {
    const state = this.read();
    const without = <T extends { readonly name: string }>(list: readonly T[]) =>
      list.filter((one) => one.name !== name);
    const [machines, pending] = [without(state.machines), without(state.pending)];
    if (machines.length + pending.length === state.machines.length + state.pending.length) {
      return false;
    }
    this.#write({ ...state, machines, pending });
    this.reload();
    return true;
  }

  /** Lets a machine take no new chat, or again; the latter also hears it again. Returns false for an unknown name. */
  drain(name: string, isDraining: boolean): boolean {
    return this.#change(name, (one) => ({
      ...one,
      isDraining,
      cutOff: isDraining ? one.cutOff : null,
    }));
  }

  /** Notes that nothing of a machine is heard for a while, longer each time. Returns for how many minutes. */
  cutOff(name: string, nowMs: number): number {
    let minutes = 0;
    this.#change(name, (one) => {
      const isAgain = one.cutOff !== null && nowMs - one.cutOff.untilMs < CUT_OFF_MEMORY_MS;
      const times = isAgain ? (one.cutOff?.times ?? 0) + 1 : 1;
      minutes = Math.min(2 ** (times - 1), MOST_MINUTES_CUT_OFF);
      return { ...one, cutOff: { untilMs: nowMs + minutes * 60_000, times } };
    });
    return minutes;
  }

  /** Notes the owner's word, or that the machine has heard it. Returns false for an unknown name. */
  letUse(name: string, engine: string | null): boolean {
    return this.#change(name, (one) => ({ ...one, mayUse: engine }));
  }

  #change(name: string, change: (one: KnownMachine) => KnownMachine): boolean {
    const state = this.read();
    if (!state.machines.some((one) => one.name === name)) return false;
    const machines = state.machines.map((one) => (one.name === name ? change(one) : one));
    this.#write({ ...state, machines });
    return true;
  }

  /** Writes the server's file anew where another version of this skill wrote it. */
  renew(): void {
    if (readFileSync(this.configPath, 'utf8') === serverConfig(this.dir, this.read())) return;
    this.#write(this.read());
    this.reload();
  }

  certificate(): string {
    return readFileSync(join(this.dir, 'server.pem'), 'utf8');
  }

  /**
   * The number of the server's process, or of the `docker run` that hands signals on to it; null where it does not run.
   * A number that another program has by now is none.
   */
  serverPid(): number | null {
    try {
      const pid = Number(readFileSync(this.pidPath, 'utf8'));
      const isNumber = Number.isInteger(pid) && pid > 1;
      return isNumber && commandOf(pid).includes(this.configPath) ? pid : null;
    } catch {
      // No number is noted, or no process has it.
      return null;
    }
  }

  /**
   * Gives the owner's server its file. One caller at a time: an earlier file must not arrive last.
   *
   * @returns why the owner's command for it failed; null where it did not
   */
  async apply(): Promise<string | null> {
    const { apply } = this.read();
    if (apply !== null) return await runCommand(apply, this.configPath);
    this.reload();
    return null;
  }

  /** Has the server that the assistant runs read its file again. The owner's is given it by the home. */
  reload(): void {
    if (this.read().apply !== null) return;
    const pid = this.serverPid();
    try {
      if (pid !== null) process.kill(pid, 'SIGHUP');
    } catch {
      // It reads the file when it starts.
    }
  }

  /** Where the home itself dials. */
  address(): { host: string; port: number; certificate: string; seed: string } {
    const { host, port, homeSeed, apply } = this.read();
    return {
      host: apply === null ? '127.0.0.1' : host,
      port,
      certificate: this.certificate(),
      seed: homeSeed,
    };
  }

  /** The file of the server that the assistant runs; with a server of the owner's own, what its account includes. */
  get configPath(): string {
    const isOwn = this.isSetUp && this.read().apply !== null;
    return join(this.dir, isOwn ? 'account.conf' : 'nats.conf');
  }

  get pidPath(): string {
    return join(this.dir, 'nats.pid');
  }

  #makeFolder(): void {
    mkdirSync(join(this.dir, 'jetstream'), { recursive: true, mode: 0o700 });
    chmodSync(this.dir, 0o700);
  }

  #writeAnew(changes: Pick<State, 'host' | 'port' | 'apply' | 'image'>): void {
    const before = this.isSetUp ? this.read() : null;
    const empty = { homeSeed: seedOf(createUser()), machines: [], pending: [] };
    this.#write({ ...(before ?? empty), ...changes });
  }

  get #path(): string {
    return join(this.dir, 'far.json');
  }

  #write(state: State): void {
    replace(this.#path, JSON.stringify(state, null, 2));
    replace(this.configPath, serverConfig(this.dir, state));
  }

  async #makeCertificate(host: string): Promise<void> {
    const names = [...new Set([host, '127.0.0.1', 'localhost'])].map(
      (one) => `${isIP(one) === 0 ? 'DNS' : 'IP'}:${one}`,
    );
    const file = (name: string) => join(this.dir, name);
    const config = ['-config', file('openssl.cnf')];
    const openssl = (...words: string[]) =>
      promisify(execFile)('openssl', words, { cwd: this.dir });
    replace(file('openssl.cnf'), opensslSettings(names));
    replace(file('openssl.index'), '');
    try {
      await openssl(
        ...['req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
        ...['-keyout', file('server.key.new'), '-out', file('server.csr'), ...config],
        ...['-subj', '/CN=patchclaw far'],
      );
      await openssl(
        ...['ca', '-batch', '-selfsign', '-notext', ...config],
        ...['-keyfile', file('server.key.new'), '-in', file('server.csr')],
        ...['-startdate', CERTIFICATE_START, '-enddate', CERTIFICATE_END],
        ...['-out', file('server.pem.new')],
      );
    } catch (error) {
      throw new FarRefused(
        `openssl could not make a certificate (${(error as Error).message.split('\n')[0]}). Install it: \`sudo apt install openssl\`.`,
      );
    }
    chmodSync(file('server.key.new'), 0o600);
    // Nothing secret, but what the doctor names would be looked at.
    chmodSync(file('server.pem.new'), 0o600);
    renameSync(file('server.key.new'), file('server.key'));
    renameSync(file('server.pem.new'), file('server.pem'));
    for (const name of readdirSync(this.dir)) {
      if (/^openssl\.|^server\.csr$|^[0-9A-F]{20,}\.pem$/.test(name)) rmSync(file(name));
    }
  }
}

/** The settings of the machine may be anything, or nothing that can be read here. */
const opensslSettings = (names: readonly string[]): string => `[req]
distinguished_name = name
[name]
[ca]
default_ca = own
[own]
database = openssl.index
new_certs_dir = .
default_md = sha256
rand_serial = yes
policy = policy
x509_extensions = extensions
[policy]
commonName = supplied
[extensions]
basicConstraints = critical,CA:TRUE
subjectKeyIdentifier = hash
subjectAltName = ${names.join(',')}
`;

/**
 * Returns the server's file. A machine may send and hear only below its own name; a code may only enrol. The home has
 * everything below `far`, and alone the work queue and the key-value store.
 */
function serverConfig(dir: string, state: State): string {
  const { port, homeSeed, machines, pending, apply } = state;
  const user = (key: string, publish: readonly string[], subscribe: readonly string[]) =>
    `      { nkey: ${key}, permissions: { publish: ${JSON.stringify(publish)}, subscribe: ${JSON.stringify(subscribe)} } }`;
  const users = [
    user(publicKeyOf(homeSeed), ['far.>', '$JS.>', '$KV.>'], ['far.>']),
    ...machines.map(({ name, key }) => user(key, [`far.up.${name}.>`], [`far.down.${name}.>`])),
    ...pending.map(({ name, key }) => user(key, [`far.enrol.${name}`], [`far.enrolled.${name}`])),
  ];
  if (apply !== null) {
    return `# Written by Patchclaw; changes are lost. The server's own file includes this in an account.
jetstream: enabled
users: [
${users.join('\n')}
]
`;
  }
  return `# Written by Patchclaw; changes are lost.
listen: "0.0.0.0:${port}"
server_name: patchclaw
max_payload: 1048576
max_subscriptions: 100
max_connections: 4096
ping_interval: "10s"
tls {
  cert_file: ${JSON.stringify(join(dir, 'server.pem'))}
  key_file: ${JSON.stringify(join(dir, 'server.key'))}
  # By default two seconds, and a busy machine may take longer for its part.
  timeout: 15
}
jetstream { store_dir: ${JSON.stringify(join(dir, 'jetstream'))}, max_memory_store: 67108864, max_file_store: 1073741824 }
accounts {
  FAR {
    jetstream: enabled
    users: [
${users.join('\n')}
    ]
  }
}
`;
}

/** For how many minutes more nothing of a machine is heard. */
export function minutesLeft(cutOff: KnownMachine['cutOff'], nowMs: number): number {
  return cutOff === null ? 0 : Math.max(0, Math.ceil((cutOff.untilMs - nowMs) / 60_000));
}

/** Returns null, or why it failed. */
function runCommand(command: string, file: string): Promise<string | null> {
  return new Promise((resolve) => {
    execFile('sh', ['-c', command, 'sh', file], { timeout: APPLY_TIMEOUT_MS }, (error, _, words) =>
      resolve(error === null ? null : (words.trim() || error.message).slice(-300)),
    );
  });
}

/** A code carries it, so it must be one, and not long. */
function oneCertificate(text: string): string {
  const found = text.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
  const [first] = found;
  if (first === undefined || found.length > 1 || first.length > MAX_CERTIFICATE_CHARS) {
    throw new FarRefused(
      'The file of --ca must hold one certificate in PEM: that of the server, or of who signed it.',
    );
  }
  return `${first}\n`;
}

/** Returns a process's program and words. @throws Error where there is no such process */
export function commandOf(pid: number): string {
  if (existsSync('/proc/self/cmdline')) {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  }
  return execFileSync('ps', ['-ww', '-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });
}

function seedOf(user: ReturnType<typeof createUser>): string {
  return new TextDecoder().decode(user.getSeed());
}

function publicKeyOf(seed: string): string {
  return joinCode.publicKeyOf(seed);
}

function isNewKey({ homeSeed, machines, pending }: State, key: string): boolean {
  const known = [...machines, ...pending].map((one) => one.key);
  return isUserKey(key) && key !== publicKeyOf(homeSeed) && !known.includes(key);
}

function checkName(name: string): void {
  if (MachineName.safeParse(name).success) return;
  throw new FarRefused('A name has up to 31 small letters, digits and hyphens, such as nas.');
}

const joinedAlready = (name: string) =>
  `${name} has joined already. Remove it first (\`/far remove ${name}\`), or take another name.`;

function isUserKey(key: string): boolean {
  try {
    fromPublic(key);
    return Key.safeParse(key).success;
  } catch {
    // Its checksum is wrong.
    return false;
  }
}

function replace(path: string, text: string): void {
  const unfinished = `${path}.${randomBytes(4).toString('hex')}`;
  writeFileSync(unfinished, text, { mode: 0o600 });
  renameSync(unfinished, path);
}
